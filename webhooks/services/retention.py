"""Retention of deliveries, attempts and hourly counts (30 days), and of previous secrets (until they expire)."""

from datetime import UTC, datetime, time

from django.db import connection

from config.retention import ExpiredRows, RetentionRule
from webhooks.services.partitions import KEPT, drop_old_partitions, oldest_delivery_day, retention_lag

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


def _nothing_more() -> int:
    """Drop the partitions that can be dropped now. Return 0, as obstacles last longer than a run of this task."""
    drop_old_partitions()
    return 0


HOURLY_STATS = ExpiredRows("webhooks_hourlystats", "hour", KEPT, key="hour", order="hour")
RULES = (
    RetentionRule("deliveries", KEPT, _nothing_more, retention_lag),
    HOURLY_STATS.rule("hourly_stats"),
)
