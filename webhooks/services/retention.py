"""What is forgotten after 30 days: deliveries with their attempts, day by day, and hourly counts."""

from datetime import UTC, datetime, time

from config.retention.rules import OldRows, RetentionRule
from webhooks.services.partitions import KEPT, drop_old_partitions, oldest_delivery_day, retention_lag


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
