"""The calendar by day, with a column for each staff member, and by week, with a column for each day."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from agency.pages.pagination import LARGEST_ID, NumberedPages, with_id
from agency.pages.periods import YEARS, read_day
from config.api.requests import parse_clamped_number, parse_uuid
from workspaces.appointments.dashboard.calendar_entries import Wanted, WorkingTimes, entries_by_column, read_entries
from workspaces.appointments.dashboard.calendar_layout import (
    HOUR,
    MOST_LANES,
    MOST_NARROW_LANES,
    Block,
    Day,
    Entry,
    Minutes,
    PlacedEntry,
    free_hours,
    gaps,
    place,
    shown_hours,
    week_of,
)
from workspaces.catalogue.models import Staff
from workspaces.subaccounts.dashboard.base import DashboardView

CALENDAR: Final = "app:calendar"
# A day shows so many staff members side by side. The others are on further pages.
MOST_COLUMNS: Final = 20
# The select of staff has no search, so it offers only so many.
MOST_CHOICES: Final = 200
DAY_VIEW, WEEK_VIEW = "day", "week"


@dataclass(frozen=True, slots=True)
class FreeHour:
    """A free hour that has not begun, with the address at which an appointment is made for it."""

    block: Block
    starts_at: datetime
    url: str


@dataclass(slots=True)
class Column:
    """A column of the calendar: a day of everybody or of one staff member, or a staff member's part of one day."""

    day: Day
    staff: Staff | None = None
    is_of_nobody: bool = False
    entries: list[Entry] = field(default_factory=list)
    working: list[Minutes] | None = None
    placed: list[PlacedEntry] = field(default_factory=list)
    hidden: int = 0
    off: list[Block] = field(default_factory=list)
    free: list[FreeHour] = field(default_factory=list)

    def lay_out(self, hours: Minutes, now: datetime, most_lanes: int) -> None:
        """Place the entries, shade the hours at which nobody works, and offer the free hours."""
        self.placed, self.hidden = place(self.entries, self.day, hours, most_lanes)
        if self.working is not None:
            blocks = (Block.of(gap, hours) for gap in gaps(self.working, hours))
            self.off = [block for block in blocks if block]
        self.free = [] if self.is_of_nobody else list(self._free_hours(hours, now))

    def _free_hours(self, hours: Minutes, now: datetime) -> Iterator[FreeHour]:
        parts = (self.day.minutes(one.starts_at, one.ends_at) for one in self.entries)
        for hour in free_hours([part for part in parts if part], hours):
            starts_at, block = self.day.moment(hour[0]), Block.of(hour, hours)
            if block and starts_at >= now:
                asked = {"at": starts_at.astimezone(self.day.zone).strftime("%Y-%m-%dT%H:%M")}
                asked |= {"staff": str(self.staff.uuid)} if self.staff else {}
                yield FreeHour(block, starts_at, f"{reverse('app:appointment-new')}?{urlencode(asked)}")


class Calendar(DashboardView):
    """Shows a day or a week by the workspace's clock. The address says which, and whose."""

    nav = CALENDAR

    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        today = now.astimezone(self._zone).date()
        day = read_day(request.GET.get("day", "")) or today
        is_week = request.GET.get("view") != DAY_VIEW
        columns, pages = self._week(day) if is_week else self._day(day)
        days = week_of(day) if is_week else [day]
        has_more = self._fill(columns, days, is_by_staff=not is_week)
        hours = shown_hours((one.day, one.working or [], one.entries) for one in columns)
        for column in columns:
            column.lay_out(hours, now, MOST_NARROW_LANES if is_week else MOST_LANES)
        return self.page(
            "appointments/calendar.html",
            columns=columns,
            pages=pages,
            has_more=has_more,
            is_week=is_week,
            day=day,
            today=today,
            first=days[0],
            last=days[-1],
            zone=self._zone,
            hours=[f"{hour:02}:00" for hour in range(hours[0] // HOUR, hours[1] // HOUR)],
            staff=self._staff,
            choices=list(Staff.objects.of(self.workspace).by_name()[:MOST_CHOICES]),
            **self._links(day, is_week),
        )

    @cached_property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.workspace.timezone)

    @cached_property
    def _staff(self) -> Staff | None:
        """The staff member of the filter. An unknown one filters nothing."""
        return with_id(Staff.objects.of(self.workspace), parse_uuid(self.request.GET.get("staff", "")))

    def _week(self, day: date) -> tuple[list[Column], None]:
        return [Column(Day.of(one, self._zone), self._staff) for one in week_of(day)], None

    def _day(self, day: date) -> tuple[list[Column], NumberedPages | None]:
        """Give a column for each staff member of this page, and one for what has nobody."""
        shown = Day.of(day, self._zone)
        if self._staff:
            return [Column(shown, self._staff)], None
        rows = Staff.objects.of(self.workspace).by_name()
        asked = parse_clamped_number(self.request.GET.get("page", ""), usual=1, highest=LARGEST_ID)
        pages = NumberedPages(asked, rows.count(), MOST_COLUMNS)
        columns = [Column(shown, one) for one in rows[pages.offset : pages.offset + pages.size]]
        nobody = [Column(shown, is_of_nobody=True)] if pages.number == 1 else []
        return [*columns, *nobody], pages

    def _fill(self, columns: list[Column], days: Sequence[date], *, is_by_staff: bool) -> bool:
        """Read the entries and working hours of all columns; say whether there are more entries than are shown."""
        staff = [one.staff for one in columns if one.staff]
        wanted = Wanted(
            self.workspace,
            columns[0].day.begins,
            columns[-1].day.ends,
            staff if staff or is_by_staff else None,
            and_others=columns[-1].is_of_nobody,
        )
        entries, has_more = read_entries(wanted)
        working = WorkingTimes.read(self.workspace, staff, days)
        by_staff = entries_by_column(entries, staff)
        for column in columns:
            column.working = None if column.is_of_nobody else working.of(column.staff, column.day)
            mine = by_staff[column.staff.pk if column.staff else None] if is_by_staff else entries
            column.entries = [one for one in mine if column.day.minutes(one.starts_at, one.ends_at)]
        if columns[-1].is_of_nobody and not columns[-1].entries:
            columns.pop()
        return has_more

    def _links(self, day: date, is_week: bool) -> dict[str, Any]:
        """Give the addresses of the calendar earlier, later and today, and of both views."""
        step = timedelta(days=7 if is_week else 1)
        view = WEEK_VIEW if is_week else DAY_VIEW
        return {
            "earlier_url": self._url(view, day - step),
            "later_url": self._url(view, day + step),
            "today_url": self._url(view, None),
            "day_url": self._url(DAY_VIEW, day),
            "week_url": self._url(WEEK_VIEW, day),
        }

    def _url(self, view: str, day: date | None) -> str:
        asked = {"view": view}
        asked |= {"day": day.isoformat()} if day and day.year in YEARS else {}
        asked |= {"staff": str(self._staff.uuid)} if self._staff else {}
        return f"{reverse(CALENDAR)}?{urlencode(asked)}"
