"""The days of deliveries and attempts: made before they come, dropped after thirty days.

Nothing here waits long for a lock, nor lets anybody wait: a day is made as a table of its own and attached, and goes by
being detached concurrently. A reader of everything in one transaction, as a backup is, only delays a day's end.
"""

import logging
from datetime import date, timedelta

from django.conf import settings
from django.db import DatabaseError, connection

from config.postgresql.races import sqlstate
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
# Locked by somebody, out of time, a deadlock, being detached by another worker, gone already: the next call sees.
LATER = {"55P03", "57014", "40P01", "55000", "42P01"}


def make_partitions_ahead() -> int:
    """Make the days from yesterday on that are missing, `PARTITION_DAYS_AHEAD` of them yet to come; says how many."""
    if not is_partitioned(DELIVERIES):  # migrations are being taken back
        return 0
    day = today()
    return make_partitions(day - A_DAY, day + settings.PARTITION_DAYS_AHEAD * A_DAY)


def days_ahead() -> int:
    """Give how many days after today can take deliveries already; below zero nothing can be delivered now."""
    days = {one.day for one in partitions(DELIVERIES) if one.is_attached and not one.is_being_detached}
    days &= {one.day for one in partitions(ATTEMPTS) if one.is_attached and not one.is_being_detached}
    day = today()
    ahead = 0
    while day + ahead * A_DAY in days:
        ahead += 1
    return ahead - 1


def retention_lag() -> timedelta:
    """Give for how long the oldest day has been due to be dropped."""
    horizon = _horizon()
    oldest = min((one.day for table in (ATTEMPTS, DELIVERIES) for one in partitions(table)), default=horizon)
    return max(horizon - oldest, timedelta(0))


def oldest_delivery_day() -> date | None:
    """Give the first day that deliveries may still be of; what they read must be kept."""
    return min((one.day for one in partitions(DELIVERIES) if one.is_attached), default=None)


def drop_old_partitions() -> int:
    """Drop the days that ended more than thirty days ago and of which nothing is queued; says how many tables went."""
    old = [one for table in (ATTEMPTS, DELIVERIES) for one in partitions(table) if one.day < _horizon()]
    return sum(_drop(one) for one in sorted(old, key=lambda one: one.day) if not _has_queued(one.day))


def _horizon() -> date:
    """Give the oldest day of which something may be younger than thirty days."""
    return today() - KEPT


def _has_queued(day: date) -> bool:
    of_the_day = QueuedDelivery.objects.filter(delivery_id__gte=first_id(day), delivery_id__lt=first_id(day + A_DAY))
    return of_the_day.exists()


def _drop(one: Partition) -> bool:
    """Detach and drop a day; False when somebody is in the way. Must be called outside any transaction."""
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
