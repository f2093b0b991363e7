"""Plans when messages leave, if only so many people may be written to first in 24 hours."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

# This many openings are simulated one by one. After them the whole limit opens once a day.
MOST_OPENINGS: Final = 5_000
MOST_DAYS: Final = 366
# More waves than this are grouped by hour, and then by day.
MOST_SHOWN: Final = 120
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ForecastWave:
    """The number of messages expected at a moment, or within the hour or day that begins then."""

    at: datetime
    count: int


class Due(NamedTuple):
    """The number of recipients due at a moment: those who need no room in the allowance, and those who do."""

    at: datetime
    free: int
    counted: int


@dataclass(slots=True)
class Plan:
    """The number of messages by the moment at which they leave. `held` counts those that leave later than due."""

    leaving: Counter[datetime] = field(default_factory=Counter)
    held: int = 0

    @property
    def last(self) -> datetime | None:
        return max(self.leaving, default=None)

    def waves(self) -> list[ForecastWave]:
        """Return the waves in order, grouped if there are very many."""
        found: Mapping[datetime, int] = self.leaving
        for truncate in (_hour, _day):
            if len(found) <= MOST_SHOWN:
                break
            together: Counter[datetime] = Counter()
            for at, number in found.items():
                together[truncate(at)] += number
            found = together
        return [ForecastWave(at, number) for at, number in sorted(found.items())]


def without_limit(due: Iterable[Due]) -> Plan:
    """Plan messages that leave when they are due."""
    return Plan(Counter({one.at: one.free + one.counted for one in due if one.free + one.counted}))


def within_limit(
    due: Sequence[Due], *, limit: int, ends: Iterable[tuple[datetime, int]], ahead: int, window: timedelta
) -> Plan:
    """Plan messages within a limit. `ends` has the times and numbers of ending uses, `ahead` how many others wait."""
    simulation = _Simulation(limit, window, list(ends), ahead)
    for one in sorted(due):
        simulation.reach(one.at)
        simulation.send(one)
    simulation.empty()
    return simulation.plan


class _Simulation:
    def __init__(self, limit: int, window: timedelta, ends: list[tuple[datetime, int]], ahead: int) -> None:
        self._limit, self._window, self._ends, self._ahead = limit, window, ends, ahead
        heapify(ends)
        self._used = sum(number for _, number in ends)
        self._waiting = 0
        self.plan = Plan()

    def reach(self, moment: datetime) -> None:
        """Send to waiting recipients as room opens up to this moment."""
        while self._ends and self._ends[0][0] <= moment:
            self._open()

    def send(self, due: Due) -> None:
        self._leave(due.at, due.free)
        self._waiting += due.counted
        self._go(due.at)
        self.plan.held += min(due.counted, self._waiting)

    def empty(self) -> None:
        """Send to all others, however long it takes."""
        for _ in range(MOST_OPENINGS):
            if not (self._waiting and self._ends):
                break
            self._open()
        last = self.plan.last
        for _ in range(MOST_DAYS):
            if not (self._waiting and self._limit and last):
                break
            last += self._window
            number = min(self._waiting, self._limit)
            self._leave(last, number)
            self._waiting -= number

    def _open(self) -> None:
        at, number = heappop(self._ends)
        self._used -= number
        self._go(at)

    def _go(self, at: datetime) -> None:
        room = max(0, self._limit - self._used)
        others = min(room, self._ahead)
        own = min(room - others, self._waiting)
        self._ahead -= others
        self._waiting -= own
        self._leave(at, own)
        if others + own:
            self._used += others + own
            heappush(self._ends, (at + self._window, others + own))

    def _leave(self, at: datetime, number: int) -> None:
        if number:
            self.plan.leaving[at] += number


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _day(at: datetime) -> datetime:
    return _hour(at).replace(hour=0)
