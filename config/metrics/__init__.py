"""What is measured while the product works, for the exporter of docs/operations.md.

An app declares a metric once, in its `hooks`, by `METRICS.add(…)`. Whatever does the work then says `observe` or
`count`, for less than two millionths of a second; a thread of each process passes the sums on to Redis.
"""

from config.metrics import web  # noqa: F401  # declares what is measured of requests
from config.metrics.declarations import METRICS, Counter, Gauge, Histogram, capped_count, oldest_seconds
from config.metrics.publishing import publish
from config.metrics.recording import count, observe, report

__all__ = [
    "METRICS",
    "Counter",
    "Gauge",
    "Histogram",
    "capped_count",
    "count",
    "observe",
    "oldest_seconds",
    "publish",
    "report",
]
