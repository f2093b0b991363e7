"""A week of free times, from which the pages of new and rescheduled appointments let people choose."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _

from config.wall_clock import instant_of
from workspaces.appointments.dashboard.calendar_layout import Day
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.availability import FreeTime, free_times
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models import Workspace

WEEK: Final = timedelta(days=7)
# If a week has no free time, so many days are searched for the first one: `free_times` takes no more at once.
SEARCHED: Final = timedelta(days=31)
LONGEST_MOMENT: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeWeek:
    """Seven days with their free times, by the workspace's clock.

    `first_free` is the day of the first free time after a week without any.
    """

    zone: ZoneInfo
    first: date
    days: Mapping[date, list[datetime]]
    chosen: datetime | None = None
    has_earlier: bool = False
    first_free: date | None = None

    @classmethod
    def read(
        cls,
        *,
        workspace: Workspace,
        service: Service,
        staff: Staff | None,
        now: datetime,
        day: date | None,
        chosen: datetime | None = None,
        ignoring: Appointment | None = None,
    ) -> "FreeWeek":
        zone = ZoneInfo(workspace.timezone)
        today = now.astimezone(zone).date()
        first = max(day or today, today)
        begins, ends = Day.of(first, zone).begins, Day.of(first + WEEK, zone).begins

        def found(begins: datetime, ends: datetime) -> list[FreeTime]:
            return free_times(
                workspace=workspace, service=service, first=begins, last=ends, now=now, staff=staff, ignoring=ignoring
            )

        days: dict[date, list[datetime]] = defaultdict(list)
        for one in found(begins, ends):
            days[one.starts_at.astimezone(zone).date()].append(one.starts_at)
        later = [] if days else found(ends, Day.of(first + SEARCHED, zone).begins)
        return cls(
            zone=zone,
            first=first,
            days=dict(days),
            chosen=chosen,
            has_earlier=first > today,
            first_free=later[0].starts_at.astimezone(zone).date() if later else None,
        )

    @property
    def last(self) -> date:
        return self.first + WEEK - timedelta(days=1)

    @property
    def earlier(self) -> date:
        return self.first - WEEK

    @property
    def later(self) -> date:
        return self.first + WEEK

    @property
    def has_chosen(self) -> bool:
        """Say whether the chosen time is free, or none is chosen."""
        return self.chosen is None or any(self.chosen in times for times in self.days.values())

    def choices(self) -> Iterator[tuple[date, list[tuple[str, datetime, bool]]]]:
        """Yield each day with its times: the value that the form sends, the moment, and whether it is chosen."""
        for day, times in self.days.items():
            yield day, [(one.isoformat(), one, one == self.chosen) for one in times]


class MomentField(forms.Field):
    """A moment as the page's choices send it: ISO 8601 with an offset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"label": _("Time"), **options})

    def to_python(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            moment = parse_datetime(value) if len(value) <= LONGEST_MOMENT else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise ValidationError(_("Choose a time from the list."), code="invalid")
        return moment


def read_wall_clock(text: str, workspace: Workspace) -> datetime | None:
    """Read a time such as `2026-12-01T09:30` by the workspace's clock; None if it is none of a known year."""
    try:
        wall = datetime.strptime(text, "%Y-%m-%dT%H:%M")  # noqa: DTZ007  # a wall clock
    except ValueError:
        return None
    return instant_of(wall, workspace.timezone) if wall.year in range(2000, 2200) else None


def with_day(query: QueryDict, day: date) -> str:
    """Give a page's query with another first day, without a time that was chosen before."""
    changed = query.copy()
    changed.pop("at", None)
    changed.pop("form", None)
    changed["from"] = day.isoformat()
    return f"?{changed.urlencode()}"
