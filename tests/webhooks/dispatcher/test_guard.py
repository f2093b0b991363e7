"""The host check at delivery: what is refused gets nothing; what cannot be looked up is tried again."""

import socket
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection

from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.webhooks.conftest import Names, StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, make_due, read_delivery, record_events, subscribe
from webhooks.models import Delivery, DispatcherRun, Endpoint, QueuedDelivery

LOOPBACK = [ip_network("127.0.0.0/8")]


def register(tenant: Tenant, host: str, port: int, **fields: str) -> str:
    """Register a name over the API; gives the endpoint's identifier."""
    body = {"url": f"http://{host}:{port}/in", "events": ["workspace.created"], **fields}
    answer = tenant.api.post("/webhooks", body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["data"]["uuid"])


def test_a_refused_host_gets_nothing_and_is_never_retried(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, names: Names, settings: Any
) -> None:
    """So does a name that moves to a private address, and one with a private address among public ones."""
    receiver = start_receiver()
    address = subscribe(a, receiver)["uuid"]
    names["moves.acme.io"], names["some.acme.io"] = ["93.184.215.14"], ["93.184.215.14"]
    uuids = [address, *(register(a, name, receiver.port) for name in names)]
    names["moves.acme.io"], names["some.acme.io"] = ["127.0.0.1"], ["93.184.215.14", "127.0.0.1"]
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    start_dispatcher()
    record_events(a)
    ended(a, 3)
    for uuid in uuids:
        endpoint = Endpoint.objects.get(uuid=uuid)
        delivery = endpoint.deliveries.get()
        assert (delivery.status, delivery.attempts) == ("error", 1), endpoint.url
        assert (delivery.response_status, delivery.error) == (None, "blocked_address"), endpoint.url
        assert endpoint.last_outcome == "error", endpoint.url
    detail = read_delivery(a, Delivery.objects.get(endpoint__uuid=address))
    assert detail["next_attempt_at"] is None
    [attempt] = detail["attempts"]
    assert (attempt["response_status"], attempt["error"]) == (None, "blocked_address")
    assert attempt["request_headers"] == {}
    assert attempt["remote_address"] is None
    assert not QueuedDelivery.objects.exists()
    wait_for_a_round(DispatcherRun)
    assert receiver.connections == []


def test_a_name_is_looked_up_for_each_delivery_and_the_receiver_sees_the_name(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, names: Names
) -> None:
    receiver = start_receiver()
    names["hooks.acme.io"] = ["127.0.0.1"]
    register(a, "hooks.acme.io", receiver.port)
    start_dispatcher()
    record_events(a)
    [delivery] = ended(a)
    assert delivery.status == "success"
    assert receiver.requests[0].headers["host"] == f"hooks.acme.io:{receiver.port}"
    assert read_delivery(a, delivery)["attempts"][0]["dns_ms"] > 0


FAULTS = (
    socket.gaierror(socket.EAI_AGAIN, "try again"),
    socket.gaierror(socket.EAI_NONAME, "no such name"),
    socket.gaierror(socket.EAI_NODATA, "a name without an address"),
    OSError("no such luck"),
)


def test_a_name_that_leads_nowhere_now_is_tried_again(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, names: Names
) -> None:
    receiver = start_receiver()
    names["hooks.acme.io"] = ["127.0.0.1"]
    register(a, "hooks.acme.io", receiver.port, retries="extended")
    names["hooks.acme.io"] = FAULTS[0]
    start_dispatcher()
    record_events(a)
    answers: list[list[str] | OSError] = [*FAULTS[1:], ["127.0.0.1"]]
    for number, following in enumerate(answers, 1):
        delivery = attempted(a, number)
        told = (delivery.status, delivery.response_status, delivery.error)
        assert told == ("pending", None, "dns"), FAULTS[number - 1]
        names["hooks.acme.io"] = following
        make_due(delivery)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", len(FAULTS) + 1)


def test_a_name_without_any_address_cannot_be_registered(a: Tenant, names: Names, transactional_db: None) -> None:
    names["hooks.acme.io"] = socket.gaierror(socket.EAI_NONAME, "no such name")
    answer = a.api.post("/webhooks", {"url": "https://hooks.acme.io/in", "events": ["workspace.created"]})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"])


UNREADABLE = ("http://bad..name/", "http://xn--\u0130.example/", "http://[::1", "ftp://example.com/")


def test_a_url_that_cannot_be_read_ends_the_delivery_and_stops_nobody(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """Such a URL cannot be registered; it may have been before the rules were this strict."""
    receiver = start_receiver()
    for url in UNREADABLE:
        Endpoint.objects.filter(uuid=subscribe(a, receiver)["uuid"]).update(url=url)
    subscribe(b, receiver)
    start_dispatcher()
    record_events(a)
    record_events(b)
    fates = {one.endpoint.url: (one.status, one.response_status, one.error) for one in ended(a, len(UNREADABLE))}
    assert fates == dict.fromkeys(UNREADABLE, ("error", None, "blocked_address"))
    assert [delivery.status for delivery in ended(b)] == ["success"]


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE webhooks_endpoint SET secret = 'not a token'",
        "UPDATE webhooks_endpoint one SET secret = other.secret FROM webhooks_endpoint other WHERE one.id <> other.id",
    ],
    ids=["no ciphertext", "another endpoint's"],
)
def test_a_secret_that_cannot_be_read_sends_nothing_and_is_reported(
    a: Tenant,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    caplog: pytest.LogCaptureFixture,
    spoil: str,
) -> None:
    receiver = start_receiver()
    endpoint, other = subscribe(a, receiver), subscribe(a, receiver, "workspace.suspended")
    with connection.cursor() as cursor:
        cursor.execute(spoil)
        assert cursor.rowcount == 2
    start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    assert (delivery.status, delivery.error) == ("pending", "failed")
    assert receiver.connections == []
    reported = [record for record in caplog.records if record.getMessage() == "webhook secret unreadable"]
    assert endpoint["uuid"] in {vars(record)["webhook"] for record in reported}
    assert not any(secret["secret"] in str(vars(record)) for record in reported for secret in (endpoint, other))
