"""Counting what happened in each hour, once it is over: by the database's clock, and after any time away."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from agency.models.hourly_counts import CounterState, HourlyCount
from config.db import database_now
from config.hooks import Registry

KEPT: Final = timedelta(days=32)
HOUR: Final = timedelta(hours=1)
# Whatever was begun before an hour's end is committed by then.
MARGIN: Final = timedelta(minutes=2)
# A run after a long time away counts a day, and is followed by the next.
MOST_AT_ONCE: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CountedHours:
    """What was counted: `numbers` of (agency's number, counter's name, hour, how many), and the newest id there is."""

    numbers: Iterable[tuple[int, str, datetime, int]]
    newest: int = 0


@dataclass(frozen=True, slots=True)
class HourlyCounter:
    """Counts an app's rows between two hours, in one statement.

    `count` takes both and an id, after which all of these rows come.
    """

    name: str
    count: Callable[[datetime, datetime, int], CountedHours]


hourly_counters = Registry[HourlyCounter]("hourly counters")


def count_hours() -> int:
    """Count the hours that have ended since the last time, of every counter; says how many counters had any."""
    return sum(count_hours_of(counter) for counter in hourly_counters)


@transaction.atomic
def count_hours_of(counter: HourlyCounter) -> bool:
    """Count what is due of one counter. A run that is repeated, or meets another, changes nothing."""
    latest = (database_now() - MARGIN).replace(minute=0, second=0, microsecond=0)
    CounterState.objects.get_or_create(name=counter.name, defaults={"counted_until": latest - KEPT})
    state = CounterState.objects.select_for_update().get(name=counter.name)
    first = max(state.counted_until, latest - KEPT)
    if first >= latest:
        return False
    end = min(latest, first + MOST_AT_ONCE)
    counted = counter.count(first, end, state.previous_position)
    _write(counted)
    state.counted_until = end
    if end == latest:
        state.previous_position, state.position = state.position, counted.newest
    state.save()
    return True


def _write(counted: CountedHours) -> None:
    rows = [HourlyCount(agency_id=agency, name=name, hour=hour, number=n) for agency, name, hour, n in counted.numbers]
    HourlyCount.objects.bulk_create(
        rows,
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=["agency", "name", "hour"],
        update_fields=["number"],
    )
