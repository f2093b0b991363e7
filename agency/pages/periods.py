"""Periods as a filter of a list: the last hour or week, or days such as this month.

The address keeps the period's name, so a saved view stays true.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.pages.tables import Filter, TableState

LENGTHS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {"hour": timedelta(hours=1), "day": timedelta(hours=24), "week": timedelta(days=7)}
)
CHOICES: Final = [("hour", _("Last hour")), ("day", _("Last 24 hours")), ("week", _("Last 7 days"))]
PERIOD: Final = Filter(name="period", label=_("Period"), is_choice=True, choices=CHOICES)


def beginning_of(period: str, now: datetime) -> datetime:
    """Return when a period that ends now began. Raises `ValueError` for an unknown period."""
    if period not in LENGTHS:
        raise ValueError(period)
    return now - LENGTHS[period]


# Days, in the time zone of the agency or workspace -------------------------------------------------------------------

TODAY, LAST_WEEK, NEXT_WEEK, THIS_MONTH = "today", "last-7-days", "next-7-days", "this-month"
WEEK: Final = timedelta(days=6)  # from the first of seven days to the last
DAYS: Final = Filter(
    name="period",
    label=_("Period"),
    is_choice=True,
    choices=[(TODAY, _("Today")), (LAST_WEEK, _("Last 7 days")), (THIS_MONTH, _("This month"))],
)
DAYS_AHEAD: Final = Filter(
    name="period",
    label=_("Period"),
    is_choice=True,
    choices=[
        (TODAY, _("Today")),
        (NEXT_WEEK, _("Next 7 days")),
        (THIS_MONTH, _("This month")),
        (LAST_WEEK, _("Last 7 days")),
    ],
)
YEARS: Final = range(2000, 2200)


def read_day(text: str) -> date | None:
    """Read a day from the query string; None if the text is not a day of a known year."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.year in YEARS else None


@dataclass(frozen=True, slots=True)
class DayRange:
    """The days that a list shows, both included; None where it has no end."""

    first: date | None
    last: date | None

    @property
    def is_open(self) -> bool:
        """Whether the list shows every day."""
        return self.first is None and self.last is None


def days_asked(asked: Mapping[str, str], today: date) -> DayRange:
    """Return the days that are in the period and between the two days of the filters; of unknown values all days."""
    first, last = read_day(asked.get("from", "")), read_day(asked.get("to", ""))
    begin, end = _days_of(asked.get("period", ""), today)
    return DayRange(max(filter(None, (first, begin)), default=None), min(filter(None, (last, end)), default=None))


def days_ahead(state: TableState, today: date, *, begins_today: bool) -> DayRange:
    """Return the days of the filters. If they name none and the list begins today, its form says so."""
    days = days_asked(state.values, today)
    if not (days.is_open and begins_today):
        return days
    state.labels_without = {DAYS_AHEAD.name: _("From today on")}
    return DayRange(today, None)


def _days_of(period: str, today: date) -> tuple[date | None, date | None]:
    if period == THIS_MONTH:
        first = today.replace(day=1)
        return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    periods = {TODAY: (today, today), LAST_WEEK: (today - WEEK, today), NEXT_WEEK: (today, today + WEEK)}
    return periods.get(period, (None, None))
