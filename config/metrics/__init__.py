"""Metrics of the running product, for the exporter of docs/operations/metrics.md.

An app declares a metric once, in its `hooks`, by `METRICS.add(…)`. The code that does the work calls `observe` or
`count`, which takes less than two millionths of a second. A thread of each process sends the sums to Redis.
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
