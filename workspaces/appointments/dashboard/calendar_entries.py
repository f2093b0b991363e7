"""The entries of the calendar, read from the tables: appointments, classes, time off, and busy times elsewhere."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import Any, Final, TypeVar

from django.db.models import Model, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from config.wall_clock import instant_of
from workspaces.appointments.dashboard.calendar_layout import Day, Entry, Minutes, merged
from workspaces.appointments.models import Appointment, ExternalBusy, HoursException, TimeOff, WorkingHours
from workspaces.catalogue.models import Staff
from workspaces.classes.models import ClassSession
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS

Row = TypeVar("Row", bound=Model)
MOST_ENTRIES: Final = 500
# Appointments last at most a day. Few classes last longer than a week. So an index finds those that began before.
LONGEST_APPOINTMENT, LONGEST_CLASS = timedelta(days=1), timedelta(days=7)
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a calendar shows: a time, and the staff. Without `staff` it shows everybody's entries.

    `and_others` adds appointments and classes of nobody, and of deleted staff.
    """

    workspace: Workspace
    first: datetime
    last: datetime
    staff: Collection[Staff] | None = None
    and_others: bool = False

    def of_staff(self, rows: "QuerySet[Row]") -> "QuerySet[Row]":
        if self.staff is None:
            return rows
        mine = Q(staff__in=[one.pk for one in self.staff])
        return rows.filter(mine | Q(staff=None) | Q(staff__deleted_at__isnull=False) if self.and_others else mine)


def read_entries(wanted: Wanted) -> tuple[list[Entry], bool]:
    """Give at most 500 entries by their start, and say whether there are more."""
    kinds = (_appointments(wanted), _classes(wanted), _times_off(wanted), _busy_times(wanted))
    found = sorted(chain.from_iterable(kinds), key=lambda entry: entry.starts_at)
    return found[:MOST_ENTRIES], len(found) > MOST_ENTRIES


def _appointments(wanted: Wanted) -> Iterator[Entry]:
    rows = Appointment.objects.of(wanted.workspace).with_names().exclude(status=Appointment.Status.CANCELLED)
    rows = rows.filter(starts_at__gte=wanted.first - LONGEST_APPOINTMENT, starts_at__lt=wanted.last)
    for row in wanted.of_staff(rows.filter(ends_at__gt=wanted.first)).order_by("starts_at", "id")[: MOST_ENTRIES + 1]:
        yield Entry(
            kind=f"appointment {row.status}",
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            title=str(row.contact) if row.contact else _("Contact removed"),
            detail=_with_staff(row.service.name, row, wanted),
            url=reverse("app:appointment", args=[row.uuid]),
            staff=row.staff_id,
        )


def _classes(wanted: Wanted) -> Iterator[Entry]:
    rows = ClassSession.objects.of(wanted.workspace).with_names().exclude(status=ClassSession.Status.CANCELLED)
    rows = rows.filter(starts_at__gte=wanted.first - LONGEST_CLASS, starts_at__lt=wanted.last)
    for row in wanted.of_staff(rows.filter(ends_at__gt=wanted.first)).order_by("starts_at", "id")[: MOST_ENTRIES + 1]:
        seats = _("%(taken)s of %(seats)s seats taken") % {"taken": row.participants_count, "seats": row.capacity}
        yield Entry(
            kind="class",
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            title=row.service.name,
            detail=_with_staff(seats, row, wanted),
            url=reverse("app:class", args=[row.uuid]),
            staff=row.staff_id,
        )


def _times_off(wanted: Wanted) -> Iterator[Entry]:
    rows = TimeOff.objects.filter(staff__workspace=wanted.workspace, staff__deleted_at=None).select_related("staff")
    rows = wanted.of_staff(rows).filter(starts_at__lt=wanted.last, ends_at__gt=wanted.first)
    for row in rows.order_by("ends_at", "id")[: MOST_ENTRIES + 1]:
        yield Entry(
            kind="time-off",
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            title=_("Time off"),
            detail=_with_staff(row.reason, row, wanted),
            url=reverse("app:staff-time-off", args=[row.staff.uuid]),
            staff=row.staff_id,
        )


def _busy_times(wanted: Wanted) -> Iterator[Entry]:
    """Yield the busy times of external calendars; those of one person that overlap are one."""
    rows = ExternalBusy.objects.filter(staff__workspace=wanted.workspace, staff__deleted_at=None)
    rows = wanted.of_staff(rows.select_related("staff")).filter(during__overlap=(wanted.first, wanted.last))
    by_staff: dict[int, list[Entry]] = defaultdict(list)
    for row in rows.order_by("during", "id")[: MOST_ENTRIES + 1]:
        busy = Entry(
            kind="external",
            starts_at=row.during.lower or wanted.first,
            ends_at=row.during.upper or wanted.last,
            title=_("Busy"),
            detail=_with_staff(_("in another calendar"), row, wanted),
            staff=row.staff_id,
        )
        by_staff[row.staff_id].append(busy)
    return chain.from_iterable(merged(one) for one in by_staff.values())


def _with_staff(text: str, row: Any, wanted: Wanted) -> str:
    """Add the staff member's name where the column does not say it."""
    is_named = row.staff and (wanted.staff is None or row.staff.deleted_at)
    return " · ".join(filter(None, (text, row.staff.name if is_named else "")))


@dataclass(frozen=True, slots=True)
class WorkingTimes:
    """When staff work. `exceptions` hold the hours of single dates by staff id and date."""

    workspace: Workspace
    hours: Mapping[int, WorkingHours] = field(default_factory=dict)
    exceptions: Mapping[tuple[int, date], list[list[str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, workspace: Workspace, staff: Sequence[Staff], days: Sequence[date]) -> "WorkingTimes":
        ids = [one.pk for one in staff]
        hours = {row.staff_id: row for row in WorkingHours.objects.filter(staff__in=ids)}
        near = (min(days) - ONE_DAY, max(days) + ONE_DAY)
        rows = HoursException.objects.filter(staff__in=ids, date__range=near)
        return cls(workspace, hours, {(row.staff_id, row.date): row.intervals for row in rows})

    def of(self, staff: Staff | None, day: Day) -> list[Minutes] | None:
        """Give the parts of a day in which a staff member works; without one, the opening hours. None: not known."""
        if staff is None and not self.workspace.opening_hours:
            return None
        row = self.hours.get(staff.pk) if staff else None
        weekly, zone = (row.weekly, row.timezone) if row else (self.workspace.opening_hours, self.workspace.timezone)
        found = []
        for near in (day.local_date - ONE_DAY, day.local_date, day.local_date + ONE_DAY):
            usual = weekly.get(DAYS[near.weekday()], [])
            intervals = self.exceptions.get((staff.pk, near), usual) if staff else usual
            parts = (day.minutes(_moment(near, begins, zone), _moment(near, ends, zone)) for begins, ends in intervals)
            found += [part for part in parts if part]
        return found


def _moment(day: date, clock: str, zone: str) -> datetime:
    hour, minute = map(int, clock.split(":"))
    wall = datetime.combine(day, time()) + timedelta(hours=hour, minutes=minute)
    return instant_of(wall, zone)


def entries_by_column(entries: Iterable[Entry], staff: Sequence[Staff]) -> dict[int | None, list[Entry]]:
    """Sort entries by staff member; those of nobody and of deleted staff are under None."""
    known = {one.pk for one in staff}
    found: dict[int | None, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.staff if entry.staff in known else None].append(entry)
    return found
