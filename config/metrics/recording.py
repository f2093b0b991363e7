"""Adds up what this process measures, until its thread sends the sums to Redis.

This costs every request and every batch of deliveries a look into a dictionary, a lock that nobody holds for long, and
an addition.
"""

import os
import threading
from bisect import bisect_left
from collections.abc import Callable

from config.metrics.declarations import METRICS, Histogram

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


def report(name: str, value: Callable[[], float], label: str = "") -> None:
    """Register a function that returns this process's share of a declared gauge. It is called every two seconds."""
    _reports[name, label] = value
    if not _has_begun:
        _begin()


def on_first(begin: Callable[[], None]) -> None:
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


def take() -> dict[str, float]:
    """Return what was added since the last time, by field (`name|label`, for histograms `name|label|place`)."""
    with _lock:
        taken = {f"{name}|{label}": amount for (name, label), amount in _counts.items()}
        _counts.clear()
        for (name, label), cell in _cells.items():
            taken |= {f"{name}|{label}|{place}": amount for place, amount in enumerate(cell) if amount}
            cell[:] = [0.0] * len(cell)
    return taken


def put_back(taken: dict[str, float]) -> None:
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
