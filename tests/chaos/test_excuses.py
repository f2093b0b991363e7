"""What the judge of `make chaos` excuses, when it comes late and where the machine is busy."""

import json
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from django.db import connection
from django.utils.timezone import now

from tests.chaos.excuses import Excuses
from tests.chaos.expectations import Expectations, Subscriber
from tests.chaos.receiver.arrivals import Arrivals
from tests.chaos.receiver.behaviour import Behaviour
from tests.chaos.receiver.server import Receiver
from tests.tenants import Tenant
from webhooks.models import Delivery, DispatcherRun, Endpoint
from webhooks.services.endpoints import new_secret
from webhooks.signing import Signer, headers

pytestmark = pytest.mark.django_db(transaction=True)
LATE_SECONDS = 1.0
EVENT = "workspace.created"
PATH = "/mark/1"


class Judged:
    """An endpoint with its receiver, one delivery, and what is excused of it."""

    def __init__(self, tenant: Tenant, receiver: Receiver, arrivals: Arrivals) -> None:
        self.receiver, self.arrivals = receiver, arrivals
        self.url, self.secret = f"http://127.0.0.1:{receiver.port}{PATH}", new_secret()
        fields = {"agency": tenant.agency, "url": self.url, "events": [EVENT], "secret": self.secret}
        self.endpoint = Endpoint.objects.create(**fields)
        self.envelope_id = str(uuid.uuid4())
        self.delivery = Delivery.objects.create(
            agency=tenant.agency, endpoint=self.endpoint, event_name=EVENT, envelope_id=self.envelope_id, body=b"{}"
        )
        owner: tuple[str, int | str] = ("agency_id", tenant.agency.pk)
        arrivals.expectations.subscribe(Subscriber(1, PATH, self.secret, frozenset([EVENT]), owner))
        self.owner = dict([owner])
        self.excuses = Excuses(arrivals, receiver, time.sleep)
        self.excuses.numbers = {self.endpoint.pk: 1}
        self.pair = (1, self.envelope_id)

    def request(self) -> tuple[bytes, dict[str, str]]:
        data = {"workspace": {"name": "Corner Salon"}}
        envelope = {"id": self.envelope_id, "event": EVENT, "occurred_at": "", "data": data, **self.owner}
        body = json.dumps(envelope).encode()
        signature = Signer(self.secret).sign(envelope_id=self.envelope_id, timestamp=int(time.time()), body=body)
        named = dict(headers(event=EVENT, envelope_id=self.envelope_id, signature=signature))
        return body, named

    def send(self) -> None:
        """Send it as a dispatcher does, and wait for the answer."""
        body, named = self.request()
        answer = requests.post(self.url, data=body, headers=named, timeout=30)
        assert answer.status_code == 204, self.arrivals.wrong

    def write_down(self) -> None:
        Delivery.objects.filter(pk=self.delivery.pk).update(status="success", completed_at=now(), attempts=1)


@pytest.fixture
def judged(a: Tenant) -> Iterator[Judged]:
    arrivals = Arrivals(Expectations(), Behaviour("seed"))
    with Receiver(arrivals, 0.0) as receiver:
        yield Judged(a, receiver, arrivals)


def test_what_is_not_written_down_when_a_fault_strikes_may_come_once_more(judged: Judged) -> None:
    judged.send()
    with judged.excuses.of_a_fault():
        pass
    assert judged.excuses.found == {judged.pair: 1}


def test_what_came_twice_and_was_written_down_before_a_fault_is_not_excused(judged: Judged) -> None:
    judged.send()
    judged.send()
    judged.write_down()
    with judged.excuses.of_a_fault():
        pass
    assert judged.excuses.found == {}


def test_what_was_lost_is_excused_though_it_is_written_down_again_before_the_judge_looks(judged: Judged) -> None:
    judged.send()
    with judged.excuses.of_a_fault():
        judged.send()
        judged.write_down()
    assert judged.excuses.found == {judged.pair: 1}


def test_what_was_sent_before_a_fault_is_excused_though_the_receiver_reads_it_late(judged: Judged) -> None:
    """As where its thread gets no processor for so long."""
    goes_on = threading.Event()
    judged.receiver._loop.call_soon_threadsafe(goes_on.wait)
    body, named = judged.request()
    lines = [f"POST {PATH} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in named.items()]
    with socket.create_connection(("127.0.0.1", judged.receiver.port)) as sender:
        with judged.excuses.of_a_fault():
            sender.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            threading.Timer(LATE_SECONDS, goes_on.set).start()
        assert goes_on.is_set()
        assert judged.excuses.found == {judged.pair: 1}


def test_what_a_dispatcher_sends_before_it_notices_that_its_connections_broke_is_excused(judged: Judged) -> None:
    """The crash of the database may have undone that it was claimed: then another one sends it as well."""
    run = DispatcherRun.objects.create(number=7, started_at=now(), seen_at=now())

    def notice_late() -> None:
        try:
            time.sleep(LATE_SECONDS)
            judged.send()
            DispatcherRun.objects.filter(pk=run.pk).update(is_ending=True)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with judged.excuses.of_a_fault(breaks_connections=True):
            noticed = pool.submit(notice_late)
        noticed.result()
    assert judged.excuses.found == {judged.pair: 1}
