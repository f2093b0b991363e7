"""Creates the daily partitions of deliveries and attempts ahead of time, and drops them after thirty days.

This neither waits long for locks nor blocks others: a partition is created as a separate table and attached, and is
detached concurrently before the drop. A long transaction that reads everything, such as a backup, only delays a drop.
"""

import logging
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings
from django.db import DatabaseError, connection

from config.postgresql.concurrency import sqlstate
from config.retention import ExpiredRows, RetentionRule
from webhooks.models import QueuedDelivery
from webhooks.models.partitions import (
    A_DAY,
    ATTEMPTS,
    DELIVERIES,
    Partition,
    first_id,
    is_partitioned,
    make_partitions,
    partitions,
    today,
)

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
# Locked by others, timed out, a deadlock, being detached by another worker, already gone: the next call tries again.
LATER = {"55P03", "57014", "40P01", "55000", "42P01"}


def make_partitions_ahead() -> int:
    """Create missing partitions from yesterday to `PARTITION_DAYS_AHEAD` days ahead. Return the number of days."""
    if not is_partitioned(DELIVERIES):  # migrations are being reversed
        return 0
    day = today()
    return make_partitions(day - A_DAY, day + settings.PARTITION_DAYS_AHEAD * A_DAY)


def days_ahead() -> int:
    """Return for how many days after today partitions exist. Below zero, deliveries cannot be stored now."""
    days = {one.day for one in partitions(DELIVERIES) if one.is_attached and not one.is_being_detached}
    days &= {one.day for one in partitions(ATTEMPTS) if one.is_attached and not one.is_being_detached}
    day = today()
    ahead = 0
    while day + ahead * A_DAY in days:
        ahead += 1
    return ahead - 1


def retention_lag() -> timedelta:
    """Return for how long the oldest partition has been due to be dropped."""
    horizon = _horizon()
    oldest = min((one.day for table in (ATTEMPTS, DELIVERIES) for one in partitions(table)), default=horizon)
    return max(horizon - oldest, timedelta(0))


def oldest_delivery_day() -> date | None:
    """Return the oldest day of deliveries. The events since then must be kept, because deliveries read them."""
    return min((one.day for one in partitions(DELIVERIES) if one.is_attached), default=None)


def drop_old_partitions() -> int:
    """Drop partitions that ended more than thirty days ago and have nothing queued. Return the number of tables."""
    old = [one for table in (ATTEMPTS, DELIVERIES) for one in partitions(table) if one.day < _horizon()]
    return sum(_drop(one) for one in sorted(old, key=lambda one: one.day) if not _has_queued(one.day))


def _horizon() -> date:
    """Return the oldest day that may have rows younger than thirty days."""
    return today() - KEPT


def _has_queued(day: date) -> bool:
    of_the_day = QueuedDelivery.objects.filter(delivery_id__gte=first_id(day), delivery_id__lt=first_id(day + A_DAY))
    return of_the_day.exists()


def _drop(one: Partition) -> bool:
    """Detach and drop a partition, outside any transaction. Return False if another session is in the way."""
    try:
        with connection.cursor() as cursor:
            if one.is_attached:
                way = "FINALIZE" if one.is_being_detached else "CONCURRENTLY"
                cursor.execute(f"ALTER TABLE {one.table.parent} DETACH PARTITION {one.name} {way}")
            cursor.execute(f"DROP TABLE {one.name}")
    except DatabaseError as error:
        if sqlstate(error) not in LATER:
            raise
        logger.info("a day of deliveries is dropped later", extra={"table": one.name, "reason": sqlstate(error)})
        return False
    return True


MOST_ERASED = 500
# `edited_in` is set, so that dispatchers read the row again.
ERASE_SECRETS = """
UPDATE webhooks_endpoint
SET previous_secret = NULL, previous_secret_until = NULL, edited_in = pg_current_xact_id()::text::bigint
WHERE id = ANY (ARRAY (
    SELECT id FROM webhooks_endpoint WHERE previous_secret_until <= statement_timestamp()
    ORDER BY previous_secret_until LIMIT %s FOR UPDATE SKIP LOCKED
))
"""


def erase_previous_secrets() -> int:
    """Erase previous secrets that have expired by the database's clock. Return the number of endpoints."""
    with connection.cursor() as cursor:
        cursor.execute(ERASE_SECRETS, [MOST_ERASED])
        return int(cursor.rowcount)


def events_needed_since() -> datetime | None:
    """Return the start of the oldest day of deliveries. Deliveries read the envelopes of their events."""
    day = oldest_delivery_day()
    return datetime.combine(day, time(), UTC) if day else None


def drop_expired_partitions() -> int:
    """Drop the partitions that can be dropped now. Return 0, as obstacles last longer than a run of this task."""
    drop_old_partitions()
    return 0


HOURLY_STATS = ExpiredRows("webhooks_hourlystats", "hour", KEPT, key="hour", order="hour")
RULES = (RetentionRule("deliveries", KEPT, drop_expired_partitions, retention_lag), HOURLY_STATS.rule("hourly_stats"))
