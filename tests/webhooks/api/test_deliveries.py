"""Deliveries over the API: the last thirty, one with its attempts, tests, and once more."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests.config.http.receivers import answer
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, read_delivery, record_events, slowly, status, subscribe
from tests.webhooks.dispatcher.test_isolation import Crowd
from webhooks.dispatcher.queues import PER_ENDPOINT
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, QueuedDelivery

pytestmark = pytest.mark.slow

FIELDS = [
    "id",
    "webhook",
    "event",
    "envelope_id",
    "test",
    "status",
    "attempts",
    "response_status",
    "error",
    "created_at",
    "next_attempt_at",
    "completed_at",
]
ATTEMPT_FIELDS = {
    "number",
    "started_at",
    "duration_ms",
    "dns_ms",
    "connect_ms",
    "tls_ms",
    "first_byte_ms",
    "url",
    "remote_address",
    "request_headers",
    "response_status",
    "response_headers",
    "response_body",
    "error",
}
MISSING = "/webhooks/deliveries/00000000-0000-4000-8000-000000000000"


def listed(tenant: Tenant, path: str = "/webhooks/deliveries") -> list[dict[str, Any]]:
    response = tenant.api.get(path)
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()["data"]
    return rows


def test_a_test_sends_a_sample_once(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(500)))
    endpoint = subscribe(a, receiver, "addon.granted", "workspace.created")
    response = a.api.post(f"/webhooks/{endpoint['uuid']}/test")
    assert response.status_code == 202
    row = response.json()["data"]
    assert list(row) == FIELDS
    assert row["webhook"] == {"uuid": endpoint["uuid"], "url": endpoint["url"]}
    assert (row["event"], row["test"], row["status"], row["attempts"]) == ("addon.granted", True, "pending", 0)
    assert (row["response_status"], row["error"], row["completed_at"]) == (None, None, None)
    assert row["next_attempt_at"] == row["created_at"]
    start_dispatcher()
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts, delivery.error) == ("error", 1, "http_5xx")
    [request] = receiver.requests
    envelope = json.loads(request.body)
    assert list(envelope) == ["id", "event", "occurred_at", "agency_id", "data", "test"]
    assert envelope["test"] is True
    assert envelope["id"] == row["envelope_id"] == request.headers["x-svc-delivery"]
    assert sorted(envelope["data"]) == ["addon", "workspace"]
    assert "x-svc-signature" in request.headers
    assert not QueuedDelivery.objects.exists()


def test_a_test_of_another_event_of_the_catalogue(a: Tenant) -> None:
    path = f"/webhooks/{an_endpoint(a).uuid}/test"
    assert a.api.post(path, {"event": "workspace.restored"}).json()["data"]["event"] == "workspace.restored"
    assert a.api.post(path, {"event": None}).json()["data"]["event"] == "workspace.created"
    refused = a.api.post(path, {"event": "workspace.deleted"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["event"])
    assert ActivityEntry.objects.filter(action="webhook.tested").count() == 2


def test_a_disabled_endpoint_is_not_tested_and_gets_no_redelivery(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    endpoint = subscribe(a, start_receiver())
    start_dispatcher()
    record_events(a)
    [delivery] = ended(a)
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"enabled": False})
    for path in (f"/webhooks/{endpoint['uuid']}/test", f"/webhooks/deliveries/{delivery.uuid}/redeliver"):
        response = a.api.post(path)
        assert response.status_code == 409
        assert response.json() == {"message": "This webhook has been removed or is disabled."}
    assert Delivery.objects.count() == 1


def test_a_delivery_is_read_with_its_attempts_and_its_envelope(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, django_assert_num_queries: Any
) -> None:
    """That costs three statements."""
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, customer="Grüße")
    [delivery] = ended(a)
    with django_assert_num_queries(3):
        detail = read_delivery(a, delivery)
    assert list(detail) == [*FIELDS, "envelope"]
    assert detail["status"] == "success"
    assert detail["completed_at"] >= detail["created_at"]
    [attempt] = detail["attempts"]
    assert set(attempt) == ATTEMPT_FIELDS
    assert detail["envelope"] == json.loads(receiver.requests[0].body)
    [row] = listed(a)
    assert row == {name: detail[name] for name in FIELDS} | {"attempts": 1}


def test_a_redelivery_is_a_new_delivery_of_the_same_envelope(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    [first] = ended(a)
    before = read_delivery(a, first)
    response = a.api.post(f"/webhooks/deliveries/{first.uuid}/redeliver")
    assert response.status_code == 202
    again = response.json()["data"]
    assert again["id"] != str(first.uuid)
    assert (again["envelope_id"], again["event"], again["test"]) == (before["envelope_id"], before["event"], False)
    assert (again["status"], again["attempts"]) == ("pending", 0)
    ended(a, 2)
    assert read_delivery(a, first) == before
    assert [row["id"] for row in listed(a)] == [again["id"], str(first.uuid)]
    assert ActivityEntry.objects.filter(action="webhook.redelivered").count() == 1


def test_a_redelivery_may_fail_three_times_too(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    first = a_failed_delivery(a, Endpoint.objects.get(uuid=subscribe(a, start_receiver(answer(status(503))))["uuid"]))
    a.api.post(f"/webhooks/deliveries/{first.uuid}/redeliver")
    start_dispatcher()
    again = until(lambda: Delivery.objects.filter(kind="redelivery", attempts=1).first())
    assert (again.status, again.max_attempts) == ("pending", 3)


def test_a_tests_redelivery_stays_a_test(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    tested = a.api.post(f"/webhooks/{endpoint['uuid']}/test").json()["data"]
    ended(a)
    again = a.api.post(f"/webhooks/deliveries/{tested['id']}/redeliver").json()["data"]
    assert (again["test"], again["envelope_id"]) == (True, tested["envelope_id"])
    ended(a, 2)
    assert len({request.body for request in receiver.requests}) == 1


def test_a_delivery_of_another_agency_reads_like_none(a: Tenant, b: Tenant) -> None:
    foreign = f"/webhooks/deliveries/{a_failed_delivery(b).uuid}"
    assert b.api.get(foreign).status_code == 200
    for method, suffix in (("GET", ""), ("POST", "/redeliver")):
        answers = [a.api.call(method, path + suffix) for path in (foreign, MISSING)]
        assert [response.status_code for response in answers] == [404, 404], method
        assert answers[0].content == answers[1].content == b'{"message":"Delivery not found."}', method
    assert listed(a) == []


def test_switching_an_endpoint_off_ends_what_waits_for_it(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(500)))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    attempted(a, 1)
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"enabled": False})
    [row] = listed(a)
    assert (row["status"], row["error"], row["next_attempt_at"]) == ("error", "endpoint_disabled", None)
    assert (row["attempts"], row["response_status"]) == (1, 500)
    assert row["completed_at"]
    record_events(a)
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"enabled": True})
    record_events(a)
    attempted(a, 1)
    assert len(receiver.requests) <= 3


@pytest.mark.parametrize("way", ["disable", "remove"])
def test_what_is_leased_when_an_endpoint_goes_is_not_sent(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, way: str
) -> None:
    crowd = Crowd(quick=3)
    receiver = start_receiver(crowd)
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a, 60)
    until(lambda: crowd.now == PER_ENDPOINT, what="as many as may be in flight")
    path = f"/webhooks/{endpoint['uuid']}"
    assert (a.api.delete(path) if way == "remove" else a.api.patch(path, {"enabled": False})).status_code == 200
    wait_for_a_round(DispatcherRun)
    crowd.let_go.set()
    rows = ended(a, 60)
    assert len(receiver.requests) == 3 + PER_ENDPOINT
    gone = [row for row in rows if row.error == ("endpoint_removed" if way == "remove" else "endpoint_disabled")]
    assert len(gone) == 60 - len(receiver.requests)
    assert {row.status for row in gone} == {"error"}
    assert not Attempt.objects.filter(delivery__in=gone).exists()
    assert not QueuedDelivery.objects.exists()


def test_an_attempt_in_flight_while_its_endpoint_is_removed_is_recorded(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(slowly(0.3))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    until(lambda: receiver.requests)
    a.api.delete(f"/webhooks/{endpoint['uuid']}")
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", 1)
    assert listed(a)[0]["webhook"]["url"] == endpoint["url"]


def test_an_event_before_its_endpoint_was_enabled_is_not_delivered_later(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    endpoint = subscribe(a, receiver, enabled=False)
    start_dispatcher()
    record_events(a, customer="Too early")
    time_of_fan_out = until(lambda: not a.agency.events.filter(fanned_out_at=None).exists())
    assert time_of_fan_out
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"enabled": True})
    record_events(a, customer="Now")
    ended(a)
    assert [json.loads(request.body)["data"]["workspace"]["name"] for request in receiver.requests] == ["Now"]
    assert Delivery.objects.filter(created_at__gt=now() - timedelta(minutes=1)).count() == 1
