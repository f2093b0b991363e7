"""Does what runs ask of appointments: finds free times, and books and changes appointments of the run's contact."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, NoReturn, TypeAlias
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from agency.actors import Actor
from config.wall_clock import instant_of, known_zone
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.availability import LONGEST_RANGE, free_times
from workspaces.appointments.services.booking import TimeTaken, book_appointment
from workspaces.appointments.services.moves import (
    AppointmentIsConfirmed,
    cancel_appointment,
    confirm_appointment,
    reschedule_appointment,
)
from workspaces.automations.execution.internal_calls import (
    TIME_TAKEN,
    BookTime,
    ChangeAppointment,
    FindAppointments,
    FindTimes,
)
from workspaces.automations.execution.languages.contacts import money_language
from workspaces.automations.services.appointment_facts import appointment_values
from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.money import format_price

MOST_SERVICES: Final = 50
MOST_APPOINTMENTS: Final = 9
# How many times are offered at once: of each of the next days, or of the one day that the contact named.
MOST_TIMES: Final = 9
MOST_A_DAY: Final = 3
OPEN: Final = (Appointment.Status.BOOKED, Appointment.Status.CONFIRMED)
# Why there is no result. The steps' details have these codes.
NO_SERVICE: Final = "no_service"
NO_STAFF: Final = "no_staff"
NO_APPOINTMENT: Final = "no_appointment"

Result: TypeAlias = dict[str, object]


class CallRefused(Exception):
    """The call has no result. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _refuse(code: str) -> NoReturn:
    raise CallRefused(code)


def _uuid(value: str, code: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise CallRefused(code) from None


def find_times(call: FindTimes, contact: Contact, now: datetime, by: Actor) -> Result:
    """Find free times to offer, or services if none is named and there are several."""
    workspace = contact.workspace
    moved = find_appointment(call.appointment, contact) if call.appointment else None
    if moved is None and not call.service:
        services = list(bookable_services(workspace)[:MOST_SERVICES])
        if len(services) != 1:
            return {"services": _service_rows(services, contact)} if services else _refuse(NO_SERVICE)
        service = services[0]
    else:
        service = moved.service if moved else _service(call.service, workspace)
    staff = moved.staff if moved else _staff(call.staff, workspace)
    search = _Search(service, staff, moved, now)
    found = search.first_times(max(now, datetime.fromisoformat(call.after)) if call.after else now)
    zone = known_zone(call.timezone, workspace.timezone)
    offered = times_to_offer(found, zone, is_day=call.is_day)
    later = _next_day(offered[-1], zone) if offered else now
    has_later = bool(offered) and bool([one for one in found if one >= later] or search.first_times(later))
    return {
        "service": str(service.uuid),
        "times": [one.isoformat() for one in offered],
        "next": later.isoformat() if has_later else "",
    }


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for free times of a service, for everybody or one person, or for an appointment that moves."""

    service: Service
    staff: Staff | None
    moved: Appointment | None
    now: datetime

    def first_times(self, first: datetime) -> list[datetime]:
        """Return the free times of the first 31 days that have any, up to the service's horizon."""
        end = self.now + timedelta(days=self.service.horizon_days + 1)
        while first < end:
            if found := self._times(first):
                return found
            first += LONGEST_RANGE
        return []

    def _times(self, first: datetime) -> list[datetime]:
        found = free_times(
            workspace=self.service.workspace,
            service=self.service,
            first=first,
            last=first + LONGEST_RANGE,
            now=self.now,
            staff=self.staff,
            ignoring=self.moved,
        )
        taken = self.moved.starts_at if self.moved else None
        return [one.starts_at for one in found if one.starts_at != taken]


def bookable_services(workspace: Workspace) -> QuerySet[Service]:
    """Return the services with which somebody can book appointments: those of the booking page."""
    services = Service.objects.of(workspace).filter(kind=Service.Kind.APPOINTMENT, bookable=True)
    provided = services.filter(duration_minutes__isnull=False, staff__deleted_at=None, staff__isnull=False)
    return provided.select_related("workspace").distinct().by_name()


def times_to_offer(times: Sequence[datetime], zone: str, *, is_day: bool) -> list[datetime]:
    """Choose times that differ: of each of the next days the first, one in the middle, and the last.

    With `is_day` they are of the first day, up to nine.
    """
    days = [list(group) for _, group in groupby(times, key=lambda one: one.astimezone(ZoneInfo(zone)).date())]
    if is_day and days:
        return _spread(days[0], MOST_TIMES)
    return [one for day in days[: MOST_TIMES // MOST_A_DAY] for one in _spread(day, MOST_A_DAY)]


def _spread(times: Sequence[datetime], most: int) -> list[datetime]:
    if len(times) <= most:
        return list(times)
    return [times[round(number * (len(times) - 1) / (most - 1))] for number in range(most)]


def _next_day(last: datetime, zone: str) -> datetime:
    """Give the beginning of the day after the last offered time."""
    local = last.astimezone(ZoneInfo(zone)).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    return instant_of(local + timedelta(days=1), zone)


def _service_rows(services: Sequence[Service], contact: Contact) -> list[list[str]]:
    """Name services with their prices, which are written in the contact's language."""
    language = money_language(str(contact.attributes.get("language") or ""), contact.country or "")
    currency = contact.workspace.currency
    prices = ["" if one.price is None else format_price(one.price, currency, language) for one in services]
    return [[str(one.uuid), one.name, price] for one, price in zip(services, prices, strict=True)]


def book_time(call: BookTime, contact: Contact, now: datetime, by: Actor) -> Result:
    """Book the time, in a savepoint of its own. A time that is not free is refused as `TIME_TAKEN`."""
    try:
        appointment = book_appointment(
            workspace=contact.workspace,
            service=_service(call.service, contact.workspace),
            contact=contact,
            starts_at=datetime.fromisoformat(call.starts_at),
            now=now,
            by=by,
            source=Appointment.Source.AUTOMATION,
            staff=_staff(call.staff, contact.workspace),
            timezone=call.timezone,
        )
    except TimeTaken:
        raise CallRefused(TIME_TAKEN) from None
    return {"appointment": appointment_values(appointment, contact)}


def find_appointments(call: FindAppointments, contact: Contact, now: datetime, by: Actor) -> Result:
    """Find the contact's appointments that have not begun, the next ones first, or only the one that is named."""
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact, status__in=OPEN, starts_at__gt=now)
    if call.appointment:
        rows = rows.filter(uuid=_uuid(call.appointment, NO_APPOINTMENT))
    found = rows.with_names().by_start()[:MOST_APPOINTMENTS]
    return {"appointments": [[str(one.uuid), one.starts_at.isoformat(), one.service.name] for one in found]}


def change_appointment(call: ChangeAppointment, contact: Contact, now: datetime, by: Actor) -> Result:
    """Confirm, cancel or reschedule. An appointment that is confirmed already counts as confirmed now."""
    appointment = find_appointment(call.appointment, contact)
    try:
        if call.change == "reschedule":
            starts_at, staff = datetime.fromisoformat(call.starts_at), _staff(call.staff, contact.workspace)
            reschedule_appointment(appointment=appointment, starts_at=starts_at, now=now, by=by, staff=staff)
        elif call.change == "cancel":
            cancel_appointment(appointment=appointment, now=now, by=by)
        else:
            confirm_appointment(appointment=appointment, now=now, by=by)
    except TimeTaken:
        raise CallRefused(TIME_TAKEN) from None
    except AppointmentIsConfirmed:
        pass
    changed = find_appointment(call.appointment, contact)
    return {"appointment": appointment_values(changed, contact)}


def find_appointment(uuid: str, contact: Contact) -> Appointment:
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact).with_names().select_related("workspace")
    return rows.filter(uuid=_uuid(uuid, NO_APPOINTMENT)).first() or _refuse(NO_APPOINTMENT)


def _service(uuid: str, workspace: Workspace) -> Service:
    rows = Service.objects.of(workspace).select_related("workspace")
    return rows.filter(uuid=_uuid(uuid, NO_SERVICE)).first() or _refuse(NO_SERVICE)


def _staff(uuid: str, workspace: Workspace) -> Staff | None:
    if not uuid:
        return None
    return Staff.objects.of(workspace).filter(uuid=_uuid(uuid, NO_STAFF)).first() or _refuse(NO_STAFF)
