"""Limits over real receivers and several dispatchers, and endpoints that hang beside endpoints that answer."""

import threading
import time
from collections import Counter

import pytest

from agency.models import Event
from config.leases.runs import SHARDS
from tests.config.http.receivers import LONG_SECONDS, Connection, Received, Receiver
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import EVENT, cut_connections, ended, record_events, subscribe, wait_for_connections
from webhooks.dispatcher.loop import Dispatcher
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, EndpointShard
from webhooks.services.endpoints import new_secret


class Crowd:
    """A behaviour that answers after a while or when it is let go, and knows how many requests stood there at once.

    The first ones, as many as `quick` says, are answered at once.
    """

    def __init__(self, seconds: float = LONG_SECONDS, *, quick: int = 0) -> None:
        self.seconds, self.quick = seconds, quick
        self.now = self.most = 0
        self.let_go = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            if self._enter(connection.receiver, request) > self.quick:
                self._hold(connection.receiver)
            self._leave()
            connection.send(b"HTTP/1.1 204 No Content\r\n\r\n")

    def _hold(self, receiver: Receiver) -> None:
        """Wait for so long, or until it is let go or the receiver ends."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not (self.let_go.is_set() or receiver.closing.wait(0.01)):
            pass

    def _enter(self, receiver: Receiver, request: Received) -> int:
        """Return the request's number; two that come at once have different ones."""
        with self._lock:
            receiver.requests.append(request)
            self.now += 1
            self.most = max(self.most, self.now)
            return len(receiver.requests)

    def _leave(self) -> None:
        with self._lock:
            self.now -= 1


def endpoints(tenant: Tenant, receiver: Receiver, count: int, *, event: str = EVENT, **fields: str) -> None:
    """Many endpoints of one agency at one receiver."""
    url = f"http://127.0.0.1:{receiver.port}/hooks/%d"
    Endpoint.objects.bulk_create(
        Endpoint(agency=tenant.agency, url=url % number, events=[event], secret=new_secret(), **fields)
        for number in range(count)
    )


@pytest.mark.usefixtures("_patient_attempts")
def test_at_most_eight_of_an_endpoint_over_two_dispatchers(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    crowd = Crowd(quick=30)
    subscribe(a, start_receiver(crowd))
    start_dispatcher(), start_dispatcher()
    for _ in range(10):
        record_events(a, 12)
    until(lambda: crowd.now == 8, what="eight at once")
    wait_for_a_round(DispatcherRun)
    crowd.let_go.set()
    ended(a, 120)
    assert crowd.most == 8


def share_shards() -> None:
    """Wait until two dispatchers have half of the endpoints each."""
    until(lambda: sorted(Counter(EndpointShard.objects.values_list("run", flat=True)).values()) == [32, 32])


@pytest.mark.usefixtures("_patient_attempts")
def test_an_agency_may_use_two_dispatchers_and_has_its_share_of_each(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    crowd = Crowd()
    endpoints(a, start_receiver(crowd), 40, last_outcome="success")
    start_dispatcher(), start_dispatcher()
    share_shards()
    record_events(a, 12)
    until(lambda: crowd.now > 64, what="more than one dispatcher's share")
    wait_for_a_round(DispatcherRun)
    crowd.let_go.set()
    ended(a, 480)
    assert crowd.most <= 2 * (64 + 128)  # which are out for longer than a second


def test_endpoints_change_hands_while_they_are_delivered_to(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """Of none are more than eight in flight, whoever serves it."""
    crowds = [Crowd(0.1) for _ in range(3)]
    for crowd in crowds:
        subscribe(a, start_receiver(crowd))
    first = start_dispatcher()
    record_events(a, 70)
    until(lambda: all(crowd.most for crowd in crowds))
    start_dispatcher()
    share_shards()
    record_events(a, 30)
    first.stop()
    ended(a, 300)
    assert max(crowd.most for crowd in crowds) <= 8
    assert Attempt.objects.count() == 300


def test_dispatchers_share_the_agencies_and_none_is_left_behind(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    tenants = [a, *(Tenant() for _ in range(5))]
    for tenant in tenants:
        subscribe(tenant, receiver)
    start_dispatcher(), start_dispatcher()
    for _ in range(3):
        for tenant in tenants:
            record_events(tenant, 5)
    until(lambda: Delivery.objects.filter(status="success").count() == 90)
    assert Event.objects.filter(fanned_out_at=None).count() == 0
    assert len(receiver.requests) == 90


def known_to_be_slow(run: Dispatcher) -> int:
    """How many endpoints a run, which works in another thread, knows to take long."""
    try:
        return len(run.queues.slow())
    except RuntimeError:  # they have changed meanwhile
        return 0


@pytest.mark.usefixtures("_patient_attempts")
def test_a_crowd_of_hanging_endpoints_holds_nobody_up(
    a: Tenant, b: Tenant, runs: list[Dispatcher], start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    hanging, healthy = start_receiver(Connection.hang), start_receiver()
    endpoints(a, hanging, 60)
    endpoints(a, healthy, 5, event="addon.granted")
    endpoints(b, healthy, 5)
    start_dispatcher()
    record_events(a, 3)
    until(lambda: len(hanging.connections) >= 32, what="those that hang")
    until(lambda: known_to_be_slow(runs[0]) >= 32, what="them to be known to be slow")
    record_events(a, 40, event="addon.granted")
    record_events(b, 40)
    until(lambda: len(healthy.requests) == 400, what="the others")
    assert not Attempt.objects.exclude(error=None).exists()  # those that hang are still under way
    assert len(hanging.connections) <= 60


@pytest.mark.usefixtures("_patient_attempts")
def test_a_fault_of_the_database_makes_nobody_wait_for_what_hangs(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """The next run takes over what the last one has nothing in flight for, at once; the limits hold over both."""
    hanging, healthy = start_receiver(Connection.hang), start_receiver()
    url = f"http://127.0.0.1:{hanging.port}/hooks"
    # In the shard of the other agency's events.
    Endpoint.objects.create(
        pk=b.agency.pk + 1_000 * SHARDS, agency=a.agency, url=url, events=[EVENT], secret=new_secret()
    )
    endpoints(b, healthy, 100)
    start_dispatcher()
    record_events(a, 30)
    until(lambda: len(hanging.connections) >= 1)
    wait_for_connections("dispatcher%", 3)
    assert cut_connections("dispatcher%") >= 3
    record_events(b, 2)
    until(lambda: len(healthy.requests) > 190, what="all but those in a shard with what hangs")
    assert len(hanging.connections) <= 8
    assert not Attempt.objects.exclude(error=None).exists()
    hanging.close()
    ended(b, 200)


@pytest.mark.usefixtures("_patient_attempts")
def test_a_second_dispatcher_makes_nobody_wait_for_what_hangs(
    a: Tenant, b: Tenant, runs: list[Dispatcher], start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    hanging, healthy = start_receiver(Connection.hang), start_receiver()
    endpoints(a, hanging, 20)
    endpoints(b, healthy, 100)
    start_dispatcher()
    record_events(a)
    until(lambda: len(hanging.connections) == 20, what="those that hang")
    until(lambda: known_to_be_slow(runs[0]) == 20, what="them to be known to be slow")
    start_dispatcher()
    until(lambda: EndpointShard.objects.exclude(run=None).values("run").distinct().count() == 2)
    record_events(b)
    until(lambda: len(healthy.requests) == 100, what="the others")
    assert not Attempt.objects.exclude(error=None).exists()
    hanging.close()
    share_shards()
