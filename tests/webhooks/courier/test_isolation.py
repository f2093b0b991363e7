"""Limits over real receivers and several couriers, and endpoints that hang beside endpoints that answer."""

import threading
import time

from agency.models import Event
from tests.tenants import Tenant
from tests.webhooks.conftest import Hire, Receive
from tests.webhooks.delivering import EVENT, ended, subscribe, tell, until
from tests.webhooks.transport.receivers import Connection, Receiver
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import new_secret


class Crowd:
    """A behaviour that takes a while to answer, and knows how many requests stood there at once."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            self._enter(1)
            connection.receiver.requests.append(request)
            connection.receiver.closing.wait(self.seconds)
            self._enter(-1)
            connection.send(b"HTTP/1.1 204 No Content\r\n\r\n")

    def _enter(self, step: int) -> None:
        with self._lock:
            self.now += step
            self.most = max(self.most, self.now)


def endpoints(tenant: Tenant, receiver: Receiver, count: int, *, event: str = EVENT, **words: str) -> None:
    """Many endpoints of one agency at one receiver."""
    url = f"http://127.0.0.1:{receiver.port}/hooks/%d"
    Endpoint.objects.bulk_create(
        Endpoint(agency=tenant.agency, url=url % number, events=[event], secret=new_secret(), **words)
        for number in range(count)
    )


def test_at_most_eight_of_an_endpoint_over_two_couriers(a: Tenant, hire: Hire, receive: Receive) -> None:
    crowd = Crowd(0.03)
    subscribe(a, receive(crowd))
    hire(), hire()
    for _ in range(10):
        tell(a, 12)
        time.sleep(0.02)
    ended(a, 120)
    assert 4 <= crowd.most <= 8


def test_at_most_a_share_of_an_agency_over_two_couriers(a: Tenant, hire: Hire, receive: Receive) -> None:
    crowd = Crowd(0.1)
    endpoints(a, receive(crowd), 20, last_outcome="success")
    hire(), hire()
    tell(a, 12)
    ended(a, 240)
    assert 32 <= crowd.most <= 64


def test_couriers_share_the_agencies_and_none_is_left_behind(a: Tenant, hire: Hire, receive: Receive) -> None:
    receiver = receive()
    tenants = [a, *(Tenant() for _ in range(9))]
    for tenant in tenants:
        subscribe(tenant, receiver)
    hire(), hire()
    for _ in range(5):
        for tenant in tenants:
            tell(tenant, 5)
    until(lambda: Delivery.objects.filter(status="success").count() == 250)
    assert Event.objects.filter(fanned_out_at=None).count() == 0
    assert len(receiver.requests) == 250


def test_a_crowd_of_hanging_endpoints_holds_nobody_up(a: Tenant, b: Tenant, hire: Hire, receive: Receive) -> None:
    hanging, healthy = receive(Connection.hang), receive()
    endpoints(a, hanging, 60)
    endpoints(a, healthy, 5, event="addon.granted")
    endpoints(b, healthy, 5)
    hire()
    tell(a, 3)
    until(lambda: len(hanging.connections) >= 32)
    time.sleep(1.5)
    began = time.monotonic()
    tell(a, 40, event="addon.granted")
    tell(b, 40)
    until(lambda: len(healthy.requests) == 400)
    assert time.monotonic() - began < 2
    assert len(hanging.connections) <= 60
