"""Metrics of the running product, for the exporter of docs/operations/metrics.md.

An app declares a metric once, in its `hooks`, by `METRICS.add(…)`. The code that does the work calls `observe` or
`count`, which takes less than two millionths of a second. A thread of each process sends the sums to Redis.

A measurement costs every request and every batch of deliveries a look into a dictionary, a lock that nobody holds for
long, and an addition.
"""

import os
import secrets
import socket
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import redis
from django.conf import settings
from django.db.models import Model, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponseBase

from config.hooks import Registry
from config.redis import connect

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
    """A value of this moment. The exporter calls `read`; without it, processes give their value with `register_gauge`.

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


def capped_count(rows: "QuerySet[Model, object]") -> float:
    """Count rows, up to ten thousand."""
    return float(rows.order_by().values("pk")[:MOST_COUNTED].count())


def oldest_seconds(rows: "QuerySet[Model, object]", since: str, *, order_by: str | Combinable | None = None) -> float:
    """Return the age of the first row in seconds, by the database's clock; 0 if there is no row.

    `order_by` names the indexed column in which the oldest row comes first, if that is not `since` itself.
    """
    found = rows.order_by(order_by or since).annotate(_now=Now()).values_list(since, "_now").first()
    return max(0.0, (found[1] - found[0]).total_seconds()) if found else 0.0


# Every process declares them, the exporter too.

METRICS.add(
    Histogram("web_request_seconds", "How long requests took in a web thread.", label="surface"),
    Counter("web_faults_total", "Requests answered with a 5xx status, by its cause.", label="cause"),
    Gauge("web_event_streams", "Event streams of open pages at this moment."),
    Gauge("web_threads_busy", "Web threads with a request at this moment."),
    Gauge("web_threads", "Web threads there are."),
    Counter("periodic_faults_total", "Runs of a part of a periodic task that failed, by the part.", label="part"),
    Counter("limiter_without_redis_total", "Requests that were let through uncounted, as Redis was away."),
)


NOT_MEASURED = frozenset({"/healthz", "/readyz"})
SERVER_ERROR = 500


class RequestMetrics:
    """Measures requests. It comes before every other middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in NOT_MEASURED:
            return self.get_response(request)
        started = time.perf_counter()
        response = self.get_response(request)
        surface = "api" if request.path_info.startswith("/api/") else "pages"
        observe("web_request_seconds", time.perf_counter() - started, surface)
        if response.status_code >= SERVER_ERROR:
            count("web_faults_total", 1, failure_cause(response))
        return response


def failure_cause(response: HttpResponseBase) -> str:
    """Return why a request failed: the cause that `set_failure_cause` recorded, or `unexpected`."""
    cause: str = response.__dict__.get("_cause", "unexpected")
    return cause


def set_failure_cause(response: HttpResponseBase, cause: str) -> None:
    """Record in a word or two why this answer has a 5xx status."""
    response.__dict__["_cause"] = cause


# A metric's name and the value of its label.
Key = tuple[str, str]

_lock = threading.Lock()
_counts: dict[Key, float] = {}
# One number for each bound, then the number above all bounds, then the sum.
_cells: dict[Key, list[float]] = {}
_bounds: dict[str, tuple[float, ...]] = {}
_reports: dict[Key, Callable[[], float]] = {}
_has_begun = False
_on_first: list[Callable[[], None]] = []


def count(name: str, amount: float = 1, label: str = "") -> None:
    """Add to a declared counter."""
    key = (name, label)
    with _lock:
        _counts[key] = _counts.get(key, 0) + amount
    if not _has_begun:
        _begin()


def observe(name: str, seconds: float, label: str = "") -> None:
    """Add a duration to a declared histogram."""
    cell = _cells.get((name, label)) or _new_cell(name, label)
    place = bisect_left(_bounds[name], seconds)
    with _lock:
        cell[place] += 1
        cell[-1] += seconds
    if not _has_begun:
        _begin()


def register_gauge(name: str, value: Callable[[], float], label: str = "") -> None:
    """Register a function that returns this process's share of a declared gauge. It is called every two seconds."""
    _reports[name, label] = value
    if not _has_begun:
        _begin()


def on_first_measurement(begin: Callable[[], None]) -> None:
    """Call `begin` when this process measures for the first time, and once more in each fork."""
    _on_first.append(begin)


def _begin() -> None:
    global _has_begun
    _has_begun = True
    for begin in _on_first:
        begin()


def _new_cell(name: str, label: str) -> list[float]:
    metric = METRICS.get(name)
    if not isinstance(metric, Histogram):
        raise LookupError(f"{name} is no histogram that an app has declared.")
    _bounds[name] = metric.bounds
    with _lock:
        return _cells.setdefault((name, label), [0.0] * (len(metric.bounds) + 2))


def take_sums() -> dict[str, float]:
    """Return what was added since the last time, by field (`name|label`, for histograms `name|label|place`)."""
    with _lock:
        taken = {f"{name}|{label}": amount for (name, label), amount in _counts.items()}
        _counts.clear()
        for (name, label), cell in _cells.items():
            taken |= {f"{name}|{label}|{place}": amount for place, amount in enumerate(cell) if amount}
            cell[:] = [0.0] * len(cell)
    return taken


def restore_sums(taken: dict[str, float]) -> None:
    """Keep sums that could not be sent for the next time."""
    with _lock:
        for field, amount in taken.items():
            name, label, *place = field.split("|")
            if place:
                _cells[name, label][int(place[0])] += amount
            else:
                _counts[name, label] = _counts.get((name, label), 0) + amount


def reported() -> dict[str, float]:
    """Return this process's gauges by field."""
    return {f"{name}|{label}": value() for (name, label), value in list(_reports.items())}


def _forget() -> None:
    """Clear everything in a forked process, because its parent sends what it has measured itself."""
    global _lock, _has_begun
    _lock, _has_begun = threading.Lock(), False
    _counts.clear()
    _cells.clear()


os.register_at_fork(after_in_child=_forget)


# So one exporter sees the processes of all hosts, and nobody has to clean up after a process that died. While Redis is
# away, the sums wait in the process.

EVERY_SECONDS = 2.0
SILENCE_SECONDS = 15
TIMEOUT_SECONDS = 1.0
TOTALS = "metrics:totals"
PROCESSES = "metrics:processes"
PROCESS = "metrics:process:{}"
HOST = socket.gethostname()
_offset_seconds = 0.0


def max_abs(values: list[float]) -> float:
    """Return the value that is furthest from zero."""
    return max(values, key=abs)


METRICS.add(
    Gauge(
        "host_clock_offset_seconds",
        "How far a host's clock is ahead of Redis's, as its processes last saw it.",
        label="host",
        combine=max_abs,
    )
)


@lru_cache(maxsize=1)
def _client(pid: int) -> "redis.Redis":
    return connect(timeout=TIMEOUT_SECONDS)


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    return f"{HOST}:{pid}:{secrets.token_hex(4)}"


def publish() -> bool:
    """Send everything to Redis; False if Redis does not take it now."""
    taken, pid = take_sums(), os.getpid()
    try:
        client = _client(pid)
        _look_at_clock(client)
        _send(client, taken, _process(pid))
    except redis.RedisError:
        restore_sums(taken)
        return False
    return True


def _look_at_clock(client: "redis.Redis") -> None:
    global _offset_seconds
    before = time.time()
    seconds, microseconds = client.time()
    _offset_seconds = (before + time.time()) / 2 - (seconds + microseconds / 1e6)


def _send(client: "redis.Redis", taken: dict[str, float], process: str) -> None:
    key = PROCESS.format(process)
    with client.pipeline() as together:
        for field, amount in taken.items():
            together.hincrbyfloat(TOTALS, field, amount)
        gauges: dict[Any, Any] = {**reported(), f"host_clock_offset_seconds|{HOST}": _offset_seconds}
        together.hset(key, mapping=gauges)
        together.expire(key, SILENCE_SECONDS)
        together.sadd(PROCESSES, process)
        together.execute()


def _publish_for_ever() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        publish()


def begin() -> None:
    """Start this process's thread."""
    if settings.METRICS_PUBLISHED:
        threading.Thread(target=_publish_for_ever, name="metrics", daemon=True).start()


on_first_measurement(begin)
