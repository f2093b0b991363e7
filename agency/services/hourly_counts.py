"""Counts what happened in each hour once the hour is over, by the database's clock, also after an outage."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from agency.models.records import CounterState
from config.db import database_now
from config.hooks import Registry

KEPT: Final = timedelta(days=32)
HOUR: Final = timedelta(hours=1)
# Most transactions that were begun before an hour's end are committed by then.
MARGIN: Final = timedelta(minutes=2)
# A transaction may be committed later, and a host's clock may be slow. So each run counts the hours before again.
COUNTED_AGAIN: Final = 2
# A run after a long outage counts a day; the next runs count the rest.
MOST_AT_ONCE: Final = timedelta(days=1)
# What was counted stays counted, if its row was deleted meanwhile.
WRITE: Final = """
INSERT INTO agency_hourlycount AS known (agency_id, name, hour, number)
SELECT * FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[], %s::int[])
ON CONFLICT (agency_id, name, hour) DO UPDATE SET number = EXCLUDED.number WHERE known.number < EXCLUDED.number
"""


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
    hours, after = _hours_to_count_again(state.positions)
    counted = counter.count(max(first - hours * HOUR, latest - KEPT), end, after)
    _write(counted)
    state.counted_until = end
    if end == latest:
        state.positions = [counted.newest, *state.positions][: COUNTED_AGAIN + 2]
    state.save()
    return True


def _hours_to_count_again(positions: Sequence[int]) -> tuple[int, int]:
    """Return how many hours to count again, and an id that is lower than those of all rows since then."""
    hours = min(COUNTED_AGAIN, len(positions) - 2)
    return (hours, positions[hours + 1]) if hours >= 0 else (COUNTED_AGAIN, 0)


def _write(counted: CountedHours) -> None:
    columns = [list(column) for column in zip(*counted.numbers, strict=True)]
    if columns:
        with connection.cursor() as cursor:
            cursor.execute(WRITE, columns)
