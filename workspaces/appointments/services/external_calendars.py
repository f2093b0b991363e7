"""Adds and removes calendars of other programs, which keep staff busy here."""

from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services import record_activity
from config.db import TimeOrExpression, database_now
from config.errors import Forbidden, InvalidInput, NotFound
from config.http.guard import Target, URLRefused, check_without_lookup, parse_target
from workspaces.appointments.models import ExternalCalendar
from workspaces.appointments.models.hours import LONGEST_CALENDAR_NAME
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import StaffNotFound
from workspaces.subaccounts.models import Workspace

MOST_CALENDARS: Final = 10
# How calendar programs spell an address that they subscribe to.
SUBSCRIPTIONS: Final = ("webcal://", "webcals://")


class CalendarNotFound(NotFound):
    message = "Calendar not found."


class TooManyCalendars(Forbidden):
    message = f"A staff member may have at most {MOST_CALENDARS} calendars from elsewhere."


class CalendarNameRefused(InvalidInput):
    field = "name"
    message = f"The name field must have 1 to {LONGEST_CALENDAR_NAME} characters."


class CalendarAddressRefused(InvalidInput):
    field = "address"


def calendars_of(workspace: Workspace) -> "QuerySet[ExternalCalendar]":
    """Return the calendars of a workspace's staff, in the order in which they were added."""
    return ExternalCalendar.objects.filter(staff__workspace=workspace).select_related("staff").order_by("id")


@transaction.atomic
def add_calendar(*, staff: Staff, name: str, address: str, now: datetime, by: Actor) -> ExternalCalendar:
    """Add a calendar by its secret ICS address. A task reads it a moment later.

    Raises `CalendarAddressRefused`, `CalendarNameRefused`, `StaffNotFound`, `TooManyCalendars`.
    """
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_CALENDAR_NAME:
        raise CalendarNameRefused
    target = checked_address(address)
    locked = Staff.objects.select_for_update(no_key=True).filter(pk=staff.pk, deleted_at=None).first()
    if locked is None:
        raise StaffNotFound
    if ExternalCalendar.objects.filter(staff=staff).count() >= MOST_CALENDARS:
        raise TooManyCalendars
    calendar = ExternalCalendar(
        staff=staff, name=name, host=target.host, due_at=database_now(), created_at=now, address=target.url
    )
    calendar.save()
    _record(calendar, "added", by)
    return calendar


@transaction.atomic
def remove_calendar(*, calendar: ExternalCalendar, by: Actor) -> None:
    """Remove a calendar with its busy times. Raises `CalendarNotFound`."""
    locked = ExternalCalendar.objects.select_for_update().filter(pk=calendar.pk).first()
    if locked is None:
        raise CalendarNotFound
    locked.staff = calendar.staff
    _record(locked, "removed", by)
    locked.delete()


@transaction.atomic
def read_calendar_now(*, calendar: ExternalCalendar, now: datetime) -> None:
    """Let the task read a calendar a moment later, whole, whatever its server says. Raises `CalendarNotFound`."""
    rows = ExternalCalendar.objects.filter(pk=calendar.pk)
    if not rows.update(due_at=database_now(), tries=0, etag="", content_digest=None):
        raise CalendarNotFound


def checked_address(address: str) -> Target:
    """Parse an address of a calendar. Where it leads is checked with each reading. Raises `CalendarAddressRefused`."""
    address = address.strip()
    for prefix in SUBSCRIPTIONS:
        if address.lower().startswith(prefix):
            address = f"https://{address[len(prefix) :]}"
    try:
        target = parse_target(address)
        check_without_lookup(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    except URLRefused as refusal:
        raise CalendarAddressRefused(str(refusal)) from refusal
    return target


def due_calendars(now: TimeOrExpression) -> "QuerySet[ExternalCalendar]":
    """Return the calendars that are to be read, the longest due first."""
    return ExternalCalendar.objects.filter(due_at__lte=now).order_by("due_at", "id")


def _record(calendar: ExternalCalendar, what: str, by: Actor) -> None:
    workspace = calendar.staff.workspace
    record_activity(
        by=by,
        action=f"external_calendar.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("staff", calendar.staff.uuid, calendar.staff.name),
        details={"calendar": calendar.name, "host": calendar.host},
    )
