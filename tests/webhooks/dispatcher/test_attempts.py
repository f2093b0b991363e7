"""Three attempts, when they come, how they end, and what the log says of them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils.timezone import now

from config.http import client
from config.http.transfer import Limits
from tests.config.http.receivers import LONG_SECONDS, Connection, after_request, answer
from tests.config.serving.web import reserved_port
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import (
    attempted,
    ended,
    in_turn,
    make_due,
    read_delivery,
    record_events,
    slowly,
    status,
    subscribe,
)
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, QueuedDelivery


def until_due(delivery: Delivery) -> float:
    """Seconds from the end of the last attempt to the next one."""
    due = delivery.next_attempt_at
    last = Attempt.objects.filter(delivery=delivery).latest("number")
    assert due is not None
    return (due - last.started_at).total_seconds() - last.duration_ms / 1000


def assert_waits(delivery: Delivery, seconds: float) -> None:
    """The next attempt comes so long after the last one was recorded, which was between its end and now, or a fifth
    later."""
    assert delivery.next_attempt_at is not None
    assert until_due(delivery) >= seconds
    assert (delivery.next_attempt_at - now()).total_seconds() <= seconds * 1.2


def subscribe_port(tenant: Tenant, port: int) -> None:
    fields = {"url": f"http://127.0.0.1:{port}/", "events": ["workspace.created"]}
    assert tenant.api.post("/webhooks", fields).status_code == 201


def test_any_2xx_is_success(a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver) -> None:
    codes = [200, 201, 202, 204, 299]
    uuids = [subscribe(a, start_receiver(answer(status(code))))["uuid"] for code in codes]
    start_dispatcher()
    record_events(a)
    ended(a, 5)
    for code, uuid in zip(codes, uuids, strict=True):
        endpoint = Endpoint.objects.get(uuid=uuid)
        delivery = endpoint.deliveries.get()
        assert (delivery.status, delivery.attempts) == ("success", 1)
        assert (delivery.response_status, delivery.error) == (code, None)
        assert delivery.next_attempt_at is None
        assert delivery.completed_at is not None
        assert endpoint.last_outcome == "success"
        assert endpoint.last_delivery_at is not None


def test_anything_else_is_a_failure_that_is_tried_again_and_no_redirect_is_followed(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    elsewhere = start_receiver()
    location = b"Location: http://127.0.0.1:%d/" % elsewhere.port
    codes = [301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503]
    receivers = [start_receiver(answer(status(code, b"", location))) for code in codes]
    uuids = [subscribe(a, receiver)["uuid"] for receiver in receivers]
    start_dispatcher()
    record_events(a)
    until(lambda: Delivery.objects.filter(attempts=1).count() == len(codes))
    for code, uuid in zip(codes, uuids, strict=True):
        delivery = Delivery.objects.select_related("queued").get(endpoint__uuid=uuid)
        assert (delivery.status, delivery.response_status) == ("pending", code)
        assert delivery.error == f"http_{code // 100}xx"
        assert_waits(delivery, 10)
    assert [len(receiver.requests) for receiver in receivers] == [1] * len(codes)
    assert elsewhere.requests == []


def test_three_failures_end_the_delivery_after_about_10_and_60_seconds(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(500, b"out of order")))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    assert_waits(delivery, 10)
    make_due(delivery)
    delivery = attempted(a, 2)
    assert_waits(delivery, 60)
    assert Endpoint.objects.get(uuid=endpoint["uuid"]).last_outcome is None
    make_due(delivery)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts, delivery.error) == ("error", 3, "http_5xx")
    assert Endpoint.objects.get(uuid=endpoint["uuid"]).last_outcome == "error"
    assert not QueuedDelivery.objects.exists()
    wait_for_a_round(DispatcherRun)
    assert len(receiver.requests) == 3


def test_an_attempt_does_not_come_before_its_time(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(in_turn([status(500), status(204)]))
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    due_at = now() + timedelta(seconds=1)
    assert QueuedDelivery.objects.filter(delivery=delivery).update(due_at=due_at)
    [delivery] = ended(a)
    assert delivery.status == "success"
    assert Attempt.objects.get(delivery=delivery, number=2).started_at >= due_at


def test_delays_are_spread_by_up_to_a_fifth(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(503)))
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, 40)
    until(lambda: Delivery.objects.filter(attempts=1).count() == 40)
    deliveries = list(Delivery.objects.select_related("queued"))
    for delivery in deliveries:
        assert_waits(delivery, 10)
    waits = [until_due(delivery) for delivery in deliveries]
    assert max(waits) - min(waits) > 0.8


def test_a_404_during_a_deployment_does_not_lose_the_event(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(in_turn([status(404), status(404), status(200, b"here again")]))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    for attempts in (1, 2):
        make_due(attempted(a, attempts))
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts, delivery.response_status) == ("success", 3, 200)
    assert Endpoint.objects.get(uuid=endpoint["uuid"]).last_outcome == "success"
    log = [(one["number"], one["response_status"], one["error"]) for one in read_delivery(a, delivery)["attempts"]]
    assert log == [(1, 404, "http_4xx"), (2, 404, "http_4xx"), (3, 200, None)]


def test_a_refused_connection_gets_its_second_attempt(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    with reserved_port() as port:
        subscribe_port(a, port)
        start_dispatcher()
        record_events(a)
        delivery = attempted(a, 1)
        assert (delivery.status, delivery.response_status, delivery.error) == ("pending", None, "refused")
        assert_waits(delivery, 10)
        start_receiver(port=port, is_reserved=True)
        make_due(delivery)
        [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", 2)


def test_a_receiver_that_hangs_up_or_is_not_http_is_tried_again(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    behaviours: dict[str, Callable[[Connection], None]] = {
        "closed": lambda connection: None,
        "invalid_answer": lambda connection: connection.send(b"220 mail.example ESMTP\r\n"),
    }
    uuids = {
        error: subscribe(a, start_receiver(after_request(behaviour)))["uuid"] for error, behaviour in behaviours.items()
    }
    start_dispatcher()
    record_events(a)
    once = Delivery.objects.filter(attempts=1).select_related("queued")
    until(lambda: once.count() == len(uuids), what="an attempt at each")
    for error, uuid in uuids.items():
        delivery = once.get(endpoint__uuid=uuid)
        assert (delivery.status, delivery.response_status, delivery.error) == ("pending", None, error)


def test_every_attempt_is_logged_with_its_times_address_and_answer(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    answers = [status(500, b"no\0 \xff way", b"X-Reason: \xf0\x9f\x92\x88", b"X-Nul: a"), status(204)]
    receiver = start_receiver(in_turn(answers))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    make_due(attempted(a, 1))
    [delivery] = ended(a)

    first, second = read_delivery(a, delivery)["attempts"]

    assert (first["number"], first["response_status"], first["error"]) == (1, 500, "http_5xx")
    assert first["response_body"] == "no\0 \ufffd way"
    assert "X-Reason: 💈" in first["response_headers"]
    assert first["url"] == endpoint["url"]
    assert first["remote_address"] == "127.0.0.1"
    assert first["connect_ms"] > 0
    assert first["first_byte_ms"] > 0
    assert 0 <= first["duration_ms"] <= 10_000
    assert first["started_at"].endswith("Z")
    assert first["request_headers"]["X-Svc-Event"] == "workspace.created"
    assert endpoint["secret"] not in str(first)
    assert (second["number"], second["response_status"], second["error"]) == (2, 204, None)
    assert second["response_body"] is None


def test_two_kibibytes_of_an_answer_are_kept_and_nul_and_odd_headers_are_stored_harmlessly(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    odd = b'HTTP/1.1 200 OK\r\nX-Odd: "a\\b",{c}\r\nContent-Length: 3\r\n\r\n\0\0\0'
    for tenant, answered in ((a, status(200, b"x" * 10_000)), (b, odd)):
        subscribe(tenant, start_receiver(answer(answered)))
    start_dispatcher()
    record_events(a)
    record_events(b)
    [delivery] = ended(a)
    assert read_delivery(a, delivery)["attempts"][0]["response_body"] == "x" * 2048
    [delivery] = ended(b)
    attempt = read_delivery(b, delivery)["attempts"][0]
    assert 'X-Odd: "a\\b",{c}' in attempt["response_headers"]
    assert attempt["response_body"] == "\0\0\0"


@pytest.mark.slow
def test_receivers_that_never_end_are_let_go_at_the_limit(
    a: Tenant,
    b: Tenant,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten seconds are the product's."""
    monkeypatch.setattr(client, "Limits", lambda: Limits(total_ms=2_000, connect_ms=1_900))

    def drip(connection: Connection) -> None:
        connection.drip(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 900, every_s=0.3)

    hanging, dripping = start_receiver(after_request(Connection.hang)), start_receiver(after_request(drip))
    subscribe(a, hanging)
    subscribe(b, dripping)
    start_dispatcher()
    record_events(a)
    record_events(b)
    once = Delivery.objects.filter(attempts=1)
    until(lambda: once.count() == 2, what="two attempts")
    for delivery in once:
        assert (delivery.status, delivery.error) == ("pending", "timeout")
        assert Attempt.objects.get(delivery=delivery).duration_ms >= 1_990
    assert len(hanging.requests) == len(dripping.requests) == 1


@pytest.mark.usefixtures("_patient_attempts")
def test_slow_answers_do_not_hold_back_other_endpoints(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    slow, quick = start_receiver(slowly(LONG_SECONDS)), start_receiver()
    subscribe(a, slow)
    subscribe(b, quick)
    start_dispatcher()
    record_events(a, 20)
    until(lambda: slow.requests)
    record_events(b, 20)
    ended(b, 20)
    assert not Attempt.objects.filter(delivery__agency=a.agency).exists()  # the slow ones are still under way


def test_an_endpoint_gets_only_the_events_that_it_asked_for(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    one, two, foreign = start_receiver(), start_receiver(), start_receiver()
    subscribe(a, one, "workspace.suspended")
    subscribe(a, two, "workspace.suspended", "addon.granted")
    subscribe(b, foreign, "workspace.suspended", "addon.granted")
    start_dispatcher()
    for event in ("workspace.created", "addon.granted", "workspace.suspended"):
        record_events(a, event=event)
    ended(a, 3)
    assert [request.headers["x-svc-event"] for request in one.requests] == ["workspace.suspended"]
    assert sorted(request.headers["x-svc-event"] for request in two.requests) == [
        "addon.granted",
        "workspace.suspended",
    ]
    assert foreign.requests == []
