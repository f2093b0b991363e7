"""What is forgotten: deliveries with their attempts and hourly counts after 30 days, secrets when they sign no more."""

from datetime import UTC, datetime, time

from django.db import connection

from config.retention.rules import OldRows, RetentionRule
from webhooks.services.partitions import KEPT, drop_old_partitions, oldest_delivery_day, retention_lag

MOST_ERASED = 500
# The edit is noted, so that dispatchers read the row anew.
ERASE_SECRETS = """
UPDATE webhooks_endpoint
SET previous_secret = NULL, previous_secret_until = NULL, edited_in = pg_current_xact_id()::text::bigint
WHERE id = ANY (ARRAY (
    SELECT id FROM webhooks_endpoint WHERE previous_secret_until <= statement_timestamp()
    ORDER BY previous_secret_until LIMIT %s FOR UPDATE SKIP LOCKED
))
"""


def erase_previous_secrets() -> int:
    """Forget secrets that do not sign any more, by the database's clock; gives the number of endpoints."""
    with connection.cursor() as cursor:
        cursor.execute(ERASE_SECRETS, [MOST_ERASED])
        return int(cursor.rowcount)


def events_needed_since() -> datetime | None:
    """Give the first moment of the oldest day of deliveries, which read the envelopes of their events."""
    day = oldest_delivery_day()
    return datetime.combine(day, time(), UTC) if day else None


def _nothing_more() -> int:
    """Drop what can be dropped now. Says nothing is left: what is in the way today is so for longer than a run."""
    drop_old_partitions()
    return 0


HOURLY_STATS = OldRows("webhooks_hourlystats", "hour", KEPT, key="hour", order="hour")
RULES = (
    RetentionRule("deliveries", KEPT, _nothing_more, retention_lag),
    HOURLY_STATS.rule("hourly_stats"),
)
