"""What is forgotten after thirty days, and what is not; the days that are made and dropped."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from tests.database.limits import limits_of_the_product
from tests.factories.webhooks import a_failed_delivery
from tests.tenants import Tenant
from webhooks.models import Attempt, Delivery, HourlyStats, QueuedDelivery
from webhooks.models.partitions import A_DAY, ATTEMPTS, DELIVERIES, first_id, make_partitions, partitions, today
from webhooks.services.partitions import (
    HOURLY_STATS,
    days_ahead,
    drop_old_partitions,
    make_partitions_ahead,
    oldest_delivery_day,
    retention_lag,
)
from webhooks.tasks import forget_deliveries

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _days_as_before() -> Iterator[None]:
    """Take away the days that a test has made: tables stay where rows are emptied.

    The worker may have made its database yesterday.
    """
    make_partitions_ahead()
    yield
    drop_old_partitions()


def a_delivery(tenant: Tenant, days_ago: int, **fields: Any) -> Delivery:
    """A delivery that was made so many days ago, with its attempt."""
    day = today() - days_ago * A_DAY
    make_partitions(day, day)
    made = now() - timedelta(days=days_ago)
    ended = {"status": "success", "completed_at": made, "attempts": 1} if "status" not in fields else {}
    delivery = Delivery.objects.create(
        id=first_id(day) + 7,
        agency=tenant.agency,
        endpoint=tenant.endpoint,
        event_name="workspace.created",
        envelope_id="7d4f3a0e-38a5-4a5b-9d0a-2f3c58a0b1c2",
        body=b"{}",
        created_at=made,
        **ended,
        **fields,
    )
    Attempt.objects.create(delivery=delivery, number=1, started_at=made, duration_ms=1, url="http://receiver/")
    return delivery


def days() -> set[date]:
    return {one.day for table in (ATTEMPTS, DELIVERIES) for one in partitions(table)}


@contextmanager
def another_connection() -> Iterator["psycopg.Connection[Any]"]:
    """One of somebody who reads for long, as a dump does."""
    settings = {name: value for name, value in connection.get_connection_params().items() if name != "cursor_factory"}
    settings.pop("context", None)
    with psycopg.connect(**settings) as other:
        yield other


def test_what_was_made_more_than_thirty_days_ago_is_dropped_with_its_attempts(a: Tenant) -> None:
    old, kept = a_delivery(a, 31), a_delivery(a, 30)
    assert oldest_delivery_day() == today() - 31 * A_DAY
    assert retention_lag() == A_DAY
    assert drop_old_partitions() == 2
    assert list(Delivery.objects.all()) == [kept]
    assert list(Attempt.objects.values_list("delivery_id", flat=True)) == [kept.pk]
    assert today() - 31 * A_DAY not in days()
    assert retention_lag() == timedelta(0)
    assert not Delivery.objects.filter(pk=old.pk).exists()
    assert drop_old_partitions() == 0


def test_a_day_of_which_something_is_queued_stays(a: Tenant) -> None:
    waiting = a_delivery(a, 40, status="pending")
    a_delivery(a, 41)
    QueuedDelivery.objects.create(delivery=waiting, agency_id=1, endpoint_id=1, due_at=now())
    assert drop_old_partitions() == 2
    assert list(Delivery.objects.all()) == [waiting]
    QueuedDelivery.objects.all().delete()
    assert drop_old_partitions() == 2


def test_a_reader_only_delays_the_end_of_a_day_and_nobody_waits(a: Tenant) -> None:
    a_delivery(a, 35)
    with another_connection() as reader:
        reader.execute("SELECT count(*) FROM webhooks_delivery")  # its transaction stays open, and so do its locks
        with limits_of_the_product():
            assert drop_old_partitions() == 1  # the attempts, which it has not read
        a_failed_delivery(a)  # neither writing nor reading waits meanwhile
        assert Delivery.objects.count() == 1  # to the others the day is gone already
        assert make_partitions_ahead() == 0
        assert retention_lag() == 5 * A_DAY
    assert drop_old_partitions() == 1
    assert retention_lag() == timedelta(0)


def test_a_table_that_was_detached_but_not_dropped_goes_the_next_time(a: Tenant) -> None:
    gone = a_delivery(a, 33)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE webhooks_delivery DETACH PARTITION {DELIVERIES.name(today() - 33 * A_DAY)}")
    assert not Delivery.objects.filter(pk=gone.pk).exists()
    assert drop_old_partitions() == 2


def test_days_are_made_before_they_come_and_counted(settings: Any) -> None:
    ahead = settings.PARTITION_DAYS_AHEAD
    assert days_ahead() == ahead
    settings.PARTITION_DAYS_AHEAD = ahead + 2
    try:
        assert make_partitions_ahead() == 2
        assert days_ahead() == ahead + 2
        assert make_partitions_ahead() == 0
        assert today() - A_DAY in days()
    finally:
        with connection.cursor() as cursor:
            for number in (1, 2):
                for table in (ATTEMPTS, DELIVERIES):
                    cursor.execute(f"DROP TABLE {table.name(today() + (ahead + number) * A_DAY)}")


def test_a_delivery_is_of_the_day_on_which_it_is_made(a: Tenant) -> None:
    made = a_failed_delivery(a)
    assert first_id(today()) <= made.pk < first_id(today() + A_DAY)
    with pytest.raises(IntegrityError, match="no partition"):
        a_failed_delivery(a, id=5)


def test_within_a_day_an_event_has_one_automatic_delivery_to_an_endpoint(a: Tenant) -> None:
    fields: dict[str, Any] = {"endpoint": a.endpoint, "event_id": 12}
    first = a_failed_delivery(a, **fields)
    a_failed_delivery(a, kind="redelivery", **fields)
    for same in ({**fields}, {"uuid": first.uuid}):
        with pytest.raises(IntegrityError, match="unique"), transaction.atomic():
            a_failed_delivery(a, **same)


def test_the_task_makes_and_drops_days_and_forgets_hours(a: Tenant) -> None:
    a_delivery(a, 45)
    for age in (0, 29, 31, 90):
        HourlyStats.objects.create(endpoint=a.endpoint, hour=now() - timedelta(days=age), successes=1)
    assert timedelta(days=59) < HOURLY_STATS.lag() < timedelta(days=61)
    forget_deliveries()
    assert HourlyStats.objects.count() == 2
    assert not Delivery.objects.exists()
