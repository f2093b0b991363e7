"""Working hours of staff, their exceptions by date, and times off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from django.db import transaction

from agency.actors import Actor
from config.api.text_fields import known_zones
from config.errors import Forbidden, InvalidInput, NotFound
from workspaces.appointments.models import HoursException, TimeOff, WorkingHours
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members
from workspaces.catalogue.services.staff import record_staff_activity
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services.settings import Interval, OpeningHoursRefused, checked_hours, checked_intervals

MOST_EXCEPTIONS: Final = 400
MOST_TIMES_OFF: Final = 1_000
YEARS: Final = range(2000, 2200)


class WorkingHoursRefused(InvalidInput):
    field = "weekly"


class TimeOffRefused(InvalidInput):
    field = "ends_at"


class TimeOffNotFound(NotFound):
    message = "Time off not found."


class TimeOffLimitReached(Forbidden):
    message = f"A staff member may have at most {MOST_TIMES_OFF:,} times off that are not over."


@dataclass(frozen=True, slots=True)
class HoursOfDate:
    """The hours of one date. Without intervals the person does not work."""

    date: date
    intervals: list[Interval]


@dataclass(frozen=True, slots=True)
class StaffHours:
    """A person's hours as they count. `follows_business` says that they are the opening hours of the business."""

    timezone: str
    weekly: dict[str, list[Interval]]
    exceptions: list[HoursOfDate]
    follows_business: bool


def hours_of(staff: Staff) -> StaffHours:
    """Return the hours at which a person works."""
    own = WorkingHours.objects.filter(staff=staff).first()
    zone, weekly = (
        (own.timezone, own.weekly)
        if own
        else Workspace.objects.values_list("timezone", "opening_hours").get(pk=staff.workspace_id)
    )
    rows = HoursException.objects.filter(staff=staff).order_by("date")
    exceptions = [HoursOfDate(row.date, row.intervals) for row in rows]
    return StaffHours(zone, {day: weekly.get(day, []) for day in DAYS}, exceptions, own is None)


@transaction.atomic
def set_working_hours(
    *,
    staff: Staff,
    timezone: str,
    weekly: Mapping[str, object] | None,
    exceptions: Mapping[date, object],
    now: datetime,
    by: Actor,
) -> StaffHours:
    """Replace a person's hours and exceptions. Without `weekly` they work at the opening hours of the business.

    `timezone` is an IANA zone; it is not used without `weekly`. Raises `WorkingHoursRefused`, `StaffNotFound`.
    """
    hours = None if weekly is None else _checked_weekly(weekly)
    if hours is not None and timezone not in known_zones():
        raise WorkingHoursRefused(
            "The timezone field must be an IANA time zone such as Europe/Berlin.", field="timezone"
        )
    replaced = _checked_exceptions(exceptions)
    locked = _lock(staff)
    before = hours_of(locked)
    if hours is None:
        WorkingHours.objects.filter(staff=locked).delete()
    else:
        values = {"timezone": timezone, "weekly": hours, "updated_at": now}
        WorkingHours.objects.update_or_create(staff=locked, defaults=values)
    HoursException.objects.filter(staff=locked).delete()
    HoursException.objects.bulk_create(
        HoursException(staff=locked, date=one.date, intervals=one.intervals) for one in replaced
    )
    after = hours_of(locked)
    if after != before:
        record_staff_activity(workspace=staff.workspace, staff=locked, what="hours_changed", by=by)
    return after


def _checked_weekly(weekly: Mapping[str, object]) -> dict[str, list[Interval]]:
    try:
        checked = checked_hours(weekly)
    except OpeningHoursRefused as refusal:
        field = f"weekly.{refusal.day}" if refusal.day else "weekly"
        raise WorkingHoursRefused(refusal.message, field=field) from refusal
    return {day: checked.get(day, []) for day in DAYS}


def _checked_exceptions(exceptions: Mapping[date, object]) -> Sequence[HoursOfDate]:
    if len(exceptions) > MOST_EXCEPTIONS:
        raise WorkingHoursRefused(f"There may be at most {MOST_EXCEPTIONS} exceptions.", field="exceptions")
    found = []
    for position, (day, intervals) in enumerate(exceptions.items()):
        try:
            found.append(HoursOfDate(day, checked_intervals(day.isoformat(), intervals)))
        except OpeningHoursRefused as refusal:
            raise WorkingHoursRefused(refusal.message, field=f"exceptions.{position}.intervals") from refusal
    return found


@transaction.atomic
def add_time_off(
    *, staff: Staff, starts_at: datetime, ends_at: datetime, reason: str = "", now: datetime, by: Actor
) -> TimeOff:
    """Add a time in which a person takes no appointments. Appointments that they have already stay.

    Raises `TimeOffRefused`, `TimeOffLimitReached`, `StaffNotFound`.
    """
    for field, moment in (("starts_at", starts_at), ("ends_at", ends_at)):
        if moment.year not in YEARS:
            words = field.replace("_", " ")
            raise TimeOffRefused(f"The {words} field must be in the years {YEARS[0]} to {YEARS[-1]}.", field=field)
    if ends_at <= starts_at:
        raise TimeOffRefused("The ends at field must be later than the start.")
    locked = _lock(staff)
    if locked.times_off.filter(ends_at__gt=now).count() >= MOST_TIMES_OFF:
        raise TimeOffLimitReached
    time_off = TimeOff.objects.create(
        staff=locked,
        starts_at=starts_at.astimezone(UTC),
        ends_at=ends_at.astimezone(UTC),
        reason=reason.strip(),
        created_at=now,
    )
    record_staff_activity(workspace=staff.workspace, staff=locked, what="time_off_added", by=by)
    return time_off


@transaction.atomic
def remove_time_off(*, time_off: TimeOff, by: Actor) -> None:
    """Remove a time off. Raises `TimeOffNotFound`."""
    staff = time_off.staff
    deleted, _rows = TimeOff.objects.filter(pk=time_off.pk).delete()
    if not deleted:
        raise TimeOffNotFound
    record_staff_activity(workspace=staff.workspace, staff=staff, what="time_off_removed", by=by)


def _lock(staff: Staff) -> Staff:
    """Lock the row, so that bookings see hours before or after a change. Raises `StaffNotFound`."""
    found = lock_staff_members([staff.pk])
    if not found:
        raise StaffNotFound
    return found[0]
