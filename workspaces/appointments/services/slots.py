"""Computes when an appointment may begin: a pure function over hours and busy times that were loaded before.

All times are whole seconds since 1970, because comparing thousands of integers is faster than comparing dates.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from math import ceil
from typing import Final
from zoneinfo import ZoneInfo

from config.wall_clock import instant_of
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services.settings import Interval

Span = tuple[int, int]
ONE_DAY: Final = timedelta(days=1)
# An appointment takes up to 24 hours. After a start on one date it may end on the second date after it, if clocks jump.
DAYS_OF_AN_APPOINTMENT: Final = 2
MOST_REMEMBERED: Final = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRules:
    """What a service asks of a start. All but `horizon_days` are seconds."""

    duration: int
    before: int
    after: int
    step: int
    notice: int
    horizon_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a person works, by the clock of `zone`, and when they are busy.

    `exceptions` replace the weekday's hours on their date.
    """

    zone: str
    weekly: Mapping[str, Sequence[Interval]]
    exceptions: Mapping[date, Sequence[Interval]]
    busy: Sequence[Span]


@dataclass(frozen=True, slots=True)
class _Interval:
    """A working interval. With the intervals that follow without a gap, work goes on until `until`."""

    start: int
    end: int
    until: int


def slot_starts(schedule: Schedule, rules: SlotRules, *, first: datetime, last: datetime, now: datetime) -> list[int]:
    """Return every start from `first` up to and without `last`, in order.

    Starts follow each other by the step from the local beginning of each working interval. The appointment ends within
    working hours, and with its buffers it touches no busy time.
    """
    low = max(ceil(first.timestamp()), ceil(now.timestamp()) + rules.notice)
    high = min(ceil(last.timestamp()), _end_of_horizon(schedule.zone, rules, now))
    if low >= high:
        return []
    blocked = _blocked_starts(schedule.busy, rules)
    ends = [end for _start, end in blocked]
    starts: list[int] = []
    for one in _working_intervals(schedule, low, high):
        latest = min(high, one.end, one.until - rules.duration + 1)
        for begin, end in _gaps(blocked, bisect_right(ends, one.start), max(low, one.start), latest):
            starts.extend(range(_step_from(one.start, rules.step, begin), end, rules.step))
    return starts


def _end_of_horizon(zone: str, rules: SlotRules, now: datetime) -> int:
    today = now.astimezone(ZoneInfo(zone)).date()
    return local_midnight(today + (rules.horizon_days + 1) * ONE_DAY, zone)


def local_midnight(day: date, zone: str) -> int:
    """Return the second at which a date begins in a zone."""
    return int(instant_of(datetime.combine(day, time()), zone).timestamp())


def _blocked_starts(busy: Iterable[Span], rules: SlotRules) -> list[Span]:
    """Return the starts that a busy time forbids, as half-open spans in order that do not touch."""
    reach = rules.duration + rules.after
    merged: list[Span] = []
    for start, end in sorted((start - reach + 1, end + rules.before) for start, end in busy if start < end):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _gaps(blocked: Sequence[Span], position: int, low: int, high: int) -> Iterator[Span]:
    """Yield the parts of `low` to `high` that are outside the blocked spans, beginning with the one at `position`."""
    for start, end in blocked[position:]:
        if low >= high or start >= high:
            break
        if start > low:
            yield low, start
        low = max(low, end)
    if low < high:
        yield low, high


def _step_from(start: int, step: int, low: int) -> int:
    """Return the first step from `start` that is not before `low`."""
    return start + -(-(low - start) // step) * step


def _working_intervals(schedule: Schedule, low: int, high: int) -> list[_Interval]:
    """Return the working intervals of each local date from `low` to `high`, in order."""
    zone = ZoneInfo(schedule.zone)
    first, last = datetime.fromtimestamp(low, zone).date(), datetime.fromtimestamp(high, zone).date()
    number = (last - first).days + 1 + DAYS_OF_AN_APPOINTMENT
    spans = [span for day in range(number) for span in _spans_of(schedule, first + day * ONE_DAY)]
    found: list[_Interval] = []
    for start, end in reversed(spans):
        goes_on = bool(found) and found[-1].start <= end
        found.append(_Interval(start, end, found[-1].until if goes_on else end))
    return found[::-1]


def _spans_of(schedule: Schedule, day: date) -> Iterator[Span]:
    intervals = schedule.exceptions.get(day)
    if intervals is None:
        intervals = schedule.weekly.get(DAYS[day.weekday()], ())
    for begin, end in intervals:
        start, stop = _second_of(day, begin, schedule.zone), _second_of(day, end, schedule.zone)
        if start < stop:
            yield start, stop


@lru_cache(maxsize=MOST_REMEMBERED)
def _second_of(day: date, clock: str, zone: str) -> int:
    """Return the second at which a zone's clocks show a time such as `09:00` on a date; `24:00` is the next one's.

    People of one business share most of these, so they are remembered.
    """
    if clock == "24:00":
        return local_midnight(day + ONE_DAY, zone)
    wall = datetime.combine(day, time(int(clock[:2]), int(clock[3:])))
    return int(instant_of(wall, zone).timestamp())
