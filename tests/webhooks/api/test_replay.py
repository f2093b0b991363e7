"""Replays: what the log of 30 days holds for an endpoint, sent again."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.factories.webhooks import an_endpoint
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.webhooks.api.test_log import fill
from webhooks.models import Delivery, Endpoint, QueuedDelivery

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LONG_AGO = "2020-01-01T00:00:00Z"
FILLED = 3_000
# Of the log's days, in the test's transaction.
ROWS_READ = """
SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables
WHERE relname LIKE 'webhooks_delivery_%'
"""


def with_bodies() -> None:
    """Give what was put into the log an envelope of its own, as its events were never recorded."""
    Delivery.objects.filter(body=None).update(body=b"{}")


@pytest.fixture
def endpoint(a: Tenant) -> Endpoint:
    """One with ten failures of three days ago, ten successes of yesterday, and two failures of today."""
    endpoint = an_endpoint(a)
    fill(a, endpoint, 10, status="error", at=now() - timedelta(days=3))
    fill(a, endpoint, 10, at=now() - timedelta(days=1))
    fill(a, endpoint, 2, status="error", event="addon.granted", at=now() - timedelta(minutes=1))
    fill(a, an_endpoint(a), 5, status="error")
    with_bodies()
    return endpoint


def replay(tenant: Tenant, endpoint: Endpoint, **body: Any) -> int:
    answer = tenant.api.post(f"/webhooks/{endpoint.uuid}/replay", {"since": LONG_AGO, **body})
    assert answer.status_code == 202, answer.content
    assert list(answer.json()) == ["data"]
    assert list(answer.json()["data"]) == ["count"]
    count: int = answer.json()["data"]["count"]
    return count


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ROWS_READ)
        [(number,)] = cursor.fetchall()
    return int(number)


def made(endpoint: Endpoint) -> list[Delivery]:
    return list(Delivery.objects.filter(endpoint=endpoint, kind="redelivery").order_by("id"))


def test_what_failed_is_sent_again_the_oldest_first(a: Tenant, endpoint: Endpoint) -> None:
    failed = list(Delivery.objects.filter(endpoint=endpoint, status="error").order_by("id"))
    assert replay(a, endpoint) == 12
    again = made(endpoint)
    assert [one.envelope_id for one in again] == [one.envelope_id for one in failed]
    assert {(one.status, one.attempts, one.max_attempts, bytes(one.body or b"")) for one in again} == {
        ("pending", 0, 3, b"{}")
    }
    assert [one.workspace_uuid for one in again] == [one.workspace_uuid for one in failed]
    queued = QueuedDelivery.objects.filter(delivery__in=again, is_ready=True)
    assert queued.count() == 12
    entry = ActivityEntry.objects.get(action="webhook.failed_redelivered")
    assert (entry.target_id, entry.details["number"]) == (str(endpoint.uuid), 12)


ASKED: list[tuple[dict[str, Any], int]] = [
    ({"status": "error"}, 12),
    ({"status": None}, 12),
    ({"status": "all"}, 22),
    ({"events": ["addon.granted"]}, 2),
    ({"events": ["addon.granted", "workspace.created"], "status": "all"}, 22),
    ({"events": ["workspace.restored"]}, 0),
    ({"events": None}, 12),
    ({"since": "2099-01-01T00:00:00+02:00"}, 0),
    ({"since": "0001-01-03T00:00:00+14:00"}, 12),
]


def test_what_is_asked_for_is_sent_again(a: Tenant, endpoint: Endpoint) -> None:
    """Each replay is undone before the next one."""
    entries = ActivityEntry.objects.filter(action__in=["webhook.failed_redelivered", "webhook.replayed"])
    for body, count in ASKED:
        with transaction.atomic():
            assert replay(a, endpoint, **body) == count, body
            assert len(made(endpoint)) == QueuedDelivery.objects.count() == count, body
            assert entries.count() == (1 if count else 0), body
            transaction.set_rollback(True)
    two_days_ago = (now() - timedelta(days=2)).isoformat()
    assert replay(a, endpoint, since=two_days_ago) == 2
    assert replay(a, endpoint, since=two_days_ago, status="all") == 10


def test_what_is_on_its_way_again_or_arrived_meanwhile_is_not_sent_twice(a: Tenant, endpoint: Endpoint) -> None:
    assert [replay(a, endpoint), replay(a, endpoint)] == [12, 0]
    QueuedDelivery.objects.all().delete()
    [first, *others] = made(endpoint)
    Delivery.objects.filter(pk=first.pk).update(status="error", completed_at=now(), failed_at=now())
    Delivery.objects.filter(pk__in=[one.pk for one in others]).update(status="success", completed_at=now())
    assert replay(a, endpoint) == 1
    assert made(endpoint)[-1].envelope_id == first.envelope_id


def test_tests_are_not_replayed(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    a.api.post(f"/webhooks/{endpoint.uuid}/test")
    QueuedDelivery.objects.all().delete()
    Delivery.objects.update(status="error", completed_at=now(), failed_at=now())
    assert replay(a, endpoint) == replay(a, endpoint, status="all") == 0


def test_ten_thousand_go_at_a_time_and_the_next_call_goes_on(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    fill(a, endpoint, 10_003, status="error", at=now() - timedelta(days=1, hours=5))
    with_bodies()
    newest = Delivery.objects.order_by("-id").first()
    assert newest is not None
    assert replay(a, endpoint) == 10_000
    assert newest.envelope_id not in {one.envelope_id for one in made(endpoint)}
    assert [replay(a, endpoint), replay(a, endpoint)] == [3, 0]


def test_statistics_of_a_log_that_was_empty_make_no_replay_read_it_for_each_delivery(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    fill(a, endpoint, FILLED, status="error", at=now())
    Delivery.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery, webhooks_endpoint")
    fill(a, endpoint, FILLED, status="error", at=now())
    with_bodies()
    before = rows_read()
    assert [replay(a, endpoint), replay(a, endpoint)] == [FILLED, 0]
    assert FILLED < rows_read() - before < 20 * FILLED


UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({}, "since"),
    ({"since": None}, "since"),
    ({"since": "yesterday"}, "since"),
    ({"since": "2026-11-20T00:00:00"}, "since"),
    ({"since": 5}, "since"),
    ({"since": LONG_AGO, "status": "success"}, "status"),
    ({"since": LONG_AGO, "events": []}, "events"),
    ({"since": LONG_AGO, "events": ["workspace.deleted"]}, "events"),
    ({"since": LONG_AGO, "events": "workspace.created"}, "events"),
    ({"since": LONG_AGO, "topics": ["workspace.created"]}, "topics"),
    ({"since": LONG_AGO, "topics": [], "events": ["workspace.created"]}, "topics"),
]


def test_what_cannot_be_read_is_422_a_disabled_endpoint_409_and_a_foreign_one_404(a: Tenant, b: Tenant) -> None:
    path = f"/webhooks/{an_endpoint(a).uuid}/replay"
    for body, field in UNREADABLE:
        answer = a.api.post(path, body)
        assert answer.status_code == 422, body
        assert [name.partition(".")[0] for name in answer.json()["errors"]] == [field], body
    disabled, foreign = an_endpoint(a, enabled=False), an_endpoint(b)
    answers = [a.api.post(f"/webhooks/{one.uuid}/replay", {"since": LONG_AGO}) for one in (disabled, foreign)]
    assert [answer.status_code for answer in answers] == [409, 404]


def test_a_key_replays_once(a: Tenant, endpoint: Endpoint) -> None:
    path, body = f"/webhooks/{endpoint.uuid}/replay", {"since": LONG_AGO}
    first, again = (a.api.post(path, body, idempotency_key="replay-1") for _ in range(2))
    assert first.content == again.content == b'{"data":{"count":12}}'
    assert len(made(endpoint)) == 12
    other = a.api.post(path, {"since": "nonsense"}, idempotency_key="replay-1")
    assert other.status_code == 409


@pytest.mark.django_db(transaction=True)
def test_ten_at_once_send_each_envelope_once(a: Tenant, endpoint: Endpoint) -> None:
    counts = at_once(lambda _: replay(a, endpoint), times=10)
    assert (sum(counts), len(made(endpoint))) == (12, 12)


FAIL_IN_THE_SECOND_BATCH = """
CREATE FUNCTION fail_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM webhooks_queueddelivery) >= 7 THEN
        RAISE EXCEPTION 'the server is stopped' USING ERRCODE = '57P01';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER fail_late AFTER INSERT ON webhooks_queueddelivery FOR EACH ROW EXECUTE FUNCTION fail_late();
"""


@pytest.mark.django_db(transaction=True)
def test_what_breaks_on_the_way_leaves_nothing_half_done(
    a: Tenant, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhooks.services.deliveries.REPLAYED_AT_ONCE", 5)
    with connection.cursor() as cursor:
        cursor.execute(FAIL_IN_THE_SECOND_BATCH)
    try:
        answer = a.api.post(f"/webhooks/{endpoint.uuid}/replay", {"since": LONG_AGO})
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION fail_late CASCADE")
    assert (answer.status_code, made(endpoint), QueuedDelivery.objects.count()) == (503, [], 0)
    assert replay(a, endpoint) == 12
