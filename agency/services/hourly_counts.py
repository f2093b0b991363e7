"""Counts what happened in each hour once the hour is over, by the database's clock, also after an outage."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from agency.models.records import CounterState, HourlyCount
from config.db import database_now
from config.hooks import Registry

KEPT: Final = timedelta(days=32)
HOUR: Final = timedelta(hours=1)
# Transactions that were begun before an hour's end are committed by then.
MARGIN: Final = timedelta(minutes=2)
# A run after a long outage counts a day; the next runs count the rest.
MOST_AT_ONCE: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CountedHours:
    """The counted `numbers` of (agency's id, counter's name, hour, number), and the newest id of the counted table."""

    numbers: Iterable[tuple[int, str, datetime, int]]
    newest: int = 0


@dataclass(frozen=True, slots=True)
class HourlyCounter:
    """Counts an app's rows between two hours, in one statement.

    `count` takes both hours, and an id that is lower than those of all these rows.
    """

    name: str
    count: Callable[[datetime, datetime, int], CountedHours]


hourly_counters = Registry[HourlyCounter](
    "hourly counters",
    called="`count_hours` calls each in the order of the apps, for the task `agency.count_hours`",
    transaction="its own, one for each counter",
    failure="rolls this counter back, is logged and counted as `periodic_faults_total`; the other counters go on",
)


@transaction.atomic
def run_hourly_counter(counter: HourlyCounter) -> bool:
    """Count the due hours of one counter; return whether there were any.

    A repeated or a concurrent run changes nothing.
    """
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
