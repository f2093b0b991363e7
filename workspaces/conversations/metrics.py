"""Metrics of messages."""

from config.metrics import Counter

CONFLICTS = Counter(
    "message_status_conflicts_total",
    "Statuses that contradict how a message has ended: failed after delivered, or the reverse.",
)
METRICS = (CONFLICTS,)
