"""Declarations of metrics: a metric's name, what it says, and where its value comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from config.hooks import Registry

# No reading counts further, because a warning must not cost as much as the trouble it warns of.
MOST_COUNTED = 10_000
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Values = float | Mapping[str, float]


@dataclass(frozen=True)
class Counter:
    """A sum to which processes add with `count`. Its name ends in `_total`. `label` is the name of its only label."""

    name: str
    help: str
    label: str | None = None


@dataclass(frozen=True)
class Histogram:
    """Durations in seconds, which processes add with `observe`."""

    name: str
    help: str
    label: str | None = None
    bounds: tuple[float, ...] = SECONDS


@dataclass(frozen=True)
class Gauge:
    """A value of this moment. The exporter calls `read`; without it, processes give their value with `report`.

    `read` returns a number, or numbers by the values of `label`. `source` is the server or the disk that it asks.
    `combine` makes one value of those that several processes report.
    """

    name: str
    help: str
    read: Callable[[], Values] | None = None
    label: str | None = None
    source: Literal["database", "redis", "broker", "media", "backups"] = "database"
    combine: Callable[[list[float]], float] = sum


Metric = Counter | Histogram | Gauge
METRICS = Registry[Metric](
    "metrics",
    called="`gather` calls `read` of each gauge when metrics are scraped; `observe` reads a histogram's bounds",
    transaction="none",
    failure="of a server or a disk: is logged, and the metric has no value; another fails the scrape",
)


def capped_count(rows: "QuerySet[Any]") -> float:
    """Count rows, up to ten thousand."""
    return float(rows.order_by().values("pk")[:MOST_COUNTED].count())


def oldest_seconds(rows: "QuerySet[Any]", since: str, *, order_by: str | Combinable | None = None) -> float:
    """Return the age of the first row in seconds, by the database's clock; 0 if there is no row.

    `order_by` names the indexed column in which the oldest row comes first, if that is not `since` itself.
    """
    found = rows.order_by(order_by or since).annotate(_now=Now()).values_list(since, "_now").first()
    return max(0.0, (found[1] - found[0]).total_seconds()) if found else 0.0
