"""Gathers every declared metric for Prometheus: sums and gauges from Redis, readings from their sources."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import redis
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from kombu.exceptions import OperationalError as BrokerAway
from prometheus_client import Metric as Family
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from config.metrics import METRICS, PROCESS, PROCESSES, TOTALS, Counter, Gauge, Histogram, Values
from config.postgresql.concurrency import sqlstate
from config.redis import RedisUnavailable, call_redis

logger = logging.getLogger(__name__)

# Scrapes within this time get the same answer.
KEPT_SECONDS = 5.0
BOUND = "SET statement_timeout = '2s'"
QUERY_CANCELED = "57014"
AWAY = (DatabaseError, RedisUnavailable, redis.RedisError, BrokerAway, OSError)

# Amounts by metric and then by field without the metric's name.
Fields = Mapping[str, Mapping[str, float]]


class ProductCollector(Collector):
    """The collector in the exporter's registry."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gathered: list[Family] = []
        self._until = 0.0

    def collect(self) -> Iterable[Family]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._gathered = list(gather())
                self._until = time.monotonic() + KEPT_SECONDS
                connection.close()  # each scrape runs in another thread
            return self._gathered

    def describe(self) -> Iterable[Family]:
        return []


def gather() -> Iterator[Family]:
    """Yield every declared metric. A metric that cannot be read now has no value, and is counted as failed."""
    totals, reports = published()
    readings, failed = Readings(), dict[str, float]()
    for metric in METRICS:
        if isinstance(metric, Counter):
            yield counter_family(metric, totals.get(metric.name, {}))
        elif isinstance(metric, Histogram):
            yield histogram_family(metric, totals.get(metric.name, {}))
        elif metric.read is None:
            yield gauge_family(metric, combined(metric, reports.get(metric.name, [])))
        else:
            values = readings.read(metric)
            failed[metric.name] = float(values is None)
            yield gauge_family(metric, values or {})
    yield gauge_family(FAILED, failed)


FAILED = Gauge("metric_reading_failed", "1 for a metric that could not be read at the last scrape.", label="metric")
UP = frozenset({"postgres_up", "redis_up"})


class Readings:
    """The readings of one scrape. A server that was away is asked only once, so a scrape takes some seconds at most."""

    def __init__(self) -> None:
        self._away: set[str] = set()
        self._is_bounded = False

    def read(self, metric: Gauge) -> dict[str, float] | None:
        """Return a gauge's values, or None if they cannot be read. Each statement may take two seconds."""
        values = None if metric.source in self._away else self._ask(metric)
        if values is None:
            return {"": 0.0} if metric.name in UP else None
        return dict(values) if isinstance(values, Mapping) else {"": float(values)}

    def _ask(self, metric: Gauge) -> Values | None:
        try:
            if metric.source == "database":
                self._bound_statements()
            return metric.read() if metric.read else None
        except AWAY as error:
            logger.warning("a metric could not be read", extra={"metric": metric.name, "fault": type(error).__name__})
            if not isinstance(error, DatabaseError) or is_away(error):
                self._away.add(metric.source)
                connection.close()
            return None

    def _bound_statements(self) -> None:
        if not self._is_bounded:
            with connection.cursor() as cursor:
                cursor.execute(BOUND)
            self._is_bounded = True


def is_away(error: DatabaseError) -> bool:
    """Return whether the database failed, and not the statement."""
    return isinstance(error, OperationalError | InterfaceError) and sqlstate(error) != QUERY_CANCELED


def published() -> tuple[Fields, Mapping[str, list[tuple[str, float]]]]:
    """Return what the processes have sent to Redis: sums, and the gauges of processes that live."""
    try:
        totals, processes = call_redis(_read_published)
    except RedisUnavailable:
        return {}, {}
    by_metric: dict[str, dict[str, float]] = defaultdict(dict)
    for name, rest, amount in parsed(totals):
        by_metric[name][rest] = amount
    reports: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for process in processes:
        for name, rest, amount in parsed(process):
            reports[name].append((rest, amount))
    return by_metric, reports


def _read_published(client: "redis.Redis") -> tuple[dict[bytes, bytes], list[dict[bytes, bytes]]]:
    names: list[bytes] = list(cast("set[bytes]", client.smembers(PROCESSES)))  # the synchronous client's
    with client.pipeline(transaction=False) as together:
        together.hgetall(TOTALS)
        for name in names:
            together.hgetall(PROCESS.format(name.decode()))
        totals, *found = together.execute()
    gone = [name for name, fields in zip(names, found, strict=True) if not fields]
    if gone:
        client.srem(PROCESSES, *gone)
    return totals, found


def parsed(fields: Mapping[bytes, bytes]) -> Iterator[tuple[str, str, float]]:
    for field, amount in fields.items():
        name, _, rest = field.decode().partition("|")
        yield name, rest, float(amount)


def combined(metric: Gauge, reports: list[tuple[str, float]]) -> dict[str, float]:
    """Make one value of those that several processes report, for each value of the label."""
    by_label: dict[str, list[float]] = defaultdict(list)
    for label, amount in reports:
        by_label[label].append(amount)
    return {label: metric.combine(amounts) for label, amounts in by_label.items()}


def labels_of(metric: Counter | Histogram | Gauge) -> list[str]:
    return [metric.label] if metric.label else []


def gauge_family(metric: Gauge, values: Mapping[str, float]) -> Family:
    family = GaugeMetricFamily(metric.name, metric.help, labels=labels_of(metric))
    for label, value in values.items():
        family.add_metric([label] if metric.label else [], value)
    return family


def counter_family(metric: Counter, fields: Mapping[str, float]) -> Family:
    family = CounterMetricFamily(metric.name, metric.help, labels=labels_of(metric))
    for label, amount in (fields or ({} if metric.label else {"": 0.0})).items():
        family.add_metric([label] if metric.label else [], amount)
    return family


def histogram_family(metric: Histogram, fields: Mapping[str, float]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=labels_of(metric))
    places: dict[str, list[float]] = {} if metric.label else {"": [0.0] * (len(metric.bounds) + 2)}
    for field, amount in fields.items():
        label, _, place = field.rpartition("|")
        cells = places.setdefault(label, [0.0] * (len(metric.bounds) + 2))
        if int(place) < len(cells):
            cells[int(place)] = amount
    for label, cells in places.items():
        family.add_metric([label] if metric.label else [], buckets(metric.bounds, cells), cells[-1])
    return family


def buckets(bounds: Iterable[float], cells: list[float]) -> list[tuple[str, float]]:
    """Return Prometheus's cumulative buckets."""
    named, below = [*map(str, bounds), "+Inf"], 0.0
    found = []
    for name, amount in zip(named, cells[:-1], strict=True):
        below += amount
        found.append((name, below))
    return found
