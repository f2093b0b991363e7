"""The dates of a series of classes, and the moments at which its classes start and end."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import dropwhile, takewhile
from typing import Final, NamedTuple

from dateutil.rrule import DAILY, MONTHLY, WEEKLY, rrule

from config.wall_clock import instant_of
from workspaces.classes.models import ClassSeries

FREQUENCIES: Final = {"days": DAILY, "weeks": WEEKLY, "months": MONTHLY}
LAST_YEAR: Final = 2199


class Times(NamedTuple):
    starts_at: datetime
    ends_at: datetime


def dates_of(series: ClassSeries, *, after: date | None, through: date) -> Iterator[date]:
    """Yield the dates of the rule later than `after`, up to `through`. A month without the day is left out."""
    days = (moment.date() for moment in _rule(series))
    later = dropwhile(lambda day: after is not None and day <= after, days)
    return takewhile(lambda day: day <= through, later)


def has_dates(series: ClassSeries, *, after: date) -> bool:
    """Say whether the rule goes on after a date."""
    return next(dates_of(series, after=after, through=date(LAST_YEAR, 12, 31)), None) is not None


def times_of(series: ClassSeries, day: date) -> Times:
    """Give start and end of the class of a date. Clock changes keep the hour; a skipped hour moves to the next moment.

    A class lasts its minutes also across a clock change.
    """
    starts_at = instant_of(datetime.combine(day, series.start_time), series.timezone)
    return Times(starts_at, starts_at + timedelta(minutes=series.duration_minutes))


def _rule(series: ClassSeries) -> Iterator[datetime]:
    first = datetime(series.first_date.year, series.first_date.month, series.first_date.day)  # noqa: DTZ001  # a wall clock
    until = series.until or date(LAST_YEAR, 12, 31)
    return iter(
        rrule(
            FREQUENCIES[series.unit],
            dtstart=first,
            interval=series.interval,
            byweekday=series.weekdays or None,
            count=series.count,
            until=None if series.count else datetime(until.year, until.month, until.day),  # noqa: DTZ001  # a wall clock
        )
    )
