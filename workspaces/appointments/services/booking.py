"""Books appointments, holds times, and keeps the table of the times at which staff are occupied.

Everybody who occupies a time first locks the staff rows, in the order of their ids, and deletes expired holds. So the
check and the insertion see the same rows. If two still meet, an exclusion constraint refuses the second.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import Error, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput, NotFound
from config.hooks import Registry
from config.postgresql.concurrency import sqlstate
from config.wall_clock import known_zone
from workspaces.appointments.models import Appointment, Hold, Occupancy
from workspaces.appointments.services.assignment import Slot, find_slot, occupied_span
from workspaces.appointments.services.availability import providers_of
from workspaces.appointments.services.links import new_token
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members, share_lock_service
from workspaces.classes.models import ClassSession
from workspaces.classes.services.sessions import ClassScheduleHandler
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.contacts.services.contacts import lock_contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event

BOOKED: Final = "booked"
ENDED_AT_ONCE: Final = 100
# exclusion_violation, deadlock_detected.
LOST_STATES: Final = frozenset({"23P01", "40P01"})


class TimeTaken(Conflict):
    message = "This time is no longer available."


class AppointmentNotFound(NotFound):
    message = "Appointment not found."


class NotAProvider(InvalidInput):
    field = "staff"
    message = "The staff field must name somebody who provides this service."


@dataclass(frozen=True, slots=True)
class AppointmentHandler:
    """A higher app's function `apply(appointment, what, now)` that is called after each change.

    `what` is booked, confirmed, rescheduled, cancelled, completed or missed. The appointment of a contact that is being
    removed has no contact any more.
    """

    name: str
    apply: Callable[[Appointment, str, datetime], None]


appointment_handlers = Registry[AppointmentHandler](
    "handlers of appointments",
    called="each booking and each move of an appointment calls each, after the change, under the appointment's lock",
    transaction="the caller's",
    failure="rolls the caller back",
)


def book_appointment(
    *,
    workspace: Workspace,
    service: Service,
    contact: Contact,
    starts_at: datetime,
    now: datetime,
    by: Actor,
    source: str,
    staff: Staff | None = None,
    timezone: str = "",
    note: str = "",
) -> Appointment:
    """Book an appointment, with `staff` or with the least busy person who is free. `timezone` is the booker's.

    Raises `TimeTaken`, `NotAnAppointmentService`, `DurationRequired`, `NotAProvider`, `ContactNotFound`,
    `ServiceNotFound`, `StaffNotFound`.
    """
    with taken_if_lost():
        contact = _lock_contact_of(workspace, contact)
        slot = _find_free_slot(workspace=workspace, service=service, starts_at=starts_at, now=now, staff=staff)
        appointment = _create_appointment(
            slot=slot,
            service=service,
            contact=contact,
            source=source,
            timezone=known_zone(timezone or contact.timezone, contact.workspace.timezone),
            note=note,
            now=now,
        )
        Occupancy.objects.create(staff=slot.staff, during=slot.during, appointment=appointment)
        record_appointment(appointment=appointment, what=BOOKED, now=now, by=by)
    return appointment


def hold_time(
    *,
    workspace: Workspace,
    service: Service,
    contact: Contact,
    starts_at: datetime,
    expires_at: datetime,
    now: datetime,
    staff: Staff | None = None,
    timezone: str = "",
    note: str = "",
) -> Hold:
    """Keep a time for a contact until `expires_at`. Raises the same as `book_appointment`."""
    with taken_if_lost():
        contact = _lock_contact_of(workspace, contact)
        slot = _find_free_slot(workspace=workspace, service=service, starts_at=starts_at, now=now, staff=staff)
        hold = Hold.objects.create(
            workspace=workspace,
            contact=contact,
            service=service,
            staff=slot.staff,
            starts_at=slot.starts_at,
            ends_at=slot.ends_at,
            timezone=known_zone(timezone or contact.timezone, contact.workspace.timezone),
            note=note,
            expires_at=expires_at,
            created_at=now,
        )
        Occupancy.objects.create(staff=slot.staff, during=slot.during, hold=hold, expires_at=expires_at)
    return hold


def book_held_time(*, hold: Hold, now: datetime, by: Actor, source: str) -> Appointment:
    """Turn a hold into an appointment, once: a repetition returns the same appointment.

    An expired hold is booked as well, if nobody else has the time now. Raises `TimeTaken`, `ContactNotFound`.
    """
    with taken_if_lost():
        contact = _lock_contact_of_hold(hold)
        members = lock_staff_members([hold.staff_id])
        locked = _lock_hold(hold)
        if locked.appointment is not None:
            return locked.appointment
        if not members or locked.service.deleted_at is not None:
            raise TimeTaken
        slot = Slot(members[0], locked.starts_at, locked.ends_at, _occupied(locked.service, locked))
        _release(locked, now)
        release_expired_holds(staff=[hold.staff_id], now=now)
        appointment = _create_appointment(
            slot=slot,
            service=locked.service,
            contact=contact,
            source=source,
            timezone=locked.timezone,
            note=locked.note,
            now=now,
        )
        Occupancy.objects.create(staff=slot.staff, during=slot.during, appointment=appointment)
        locked.appointment = appointment
        locked.save(update_fields=["appointment"])
        record_appointment(appointment=appointment, what=BOOKED, now=now, by=by)
    return appointment


@transaction.atomic
def release_hold(*, hold: Hold, now: datetime) -> None:
    """Free the time of a hold. One that has ended stays as it is."""
    lock_staff_members([hold.staff_id])
    _release(_lock_hold(hold), now)


def release_expired_holds(*, staff: Collection[int], now: datetime) -> None:
    """Free the times of these people's expired holds. The caller has locked their rows."""
    expired = Occupancy.objects.filter(staff__in=staff, expires_at__lte=now)
    holds = list(expired.values_list("hold", flat=True))
    if holds:
        Hold.objects.filter(pk__in=holds, ended_at=None).update(ended_at=now)
        Occupancy.objects.filter(hold__in=holds).delete()


def expired_holds(now: TimeOrExpression) -> "QuerySet[Hold]":
    """Return the holds that have expired and still occupy their time, those that expired first first."""
    return Hold.objects.filter(ended_at=None, expires_at__lte=now).order_by("expires_at")


@transaction.atomic
def end_expired_holds(*, now: datetime, batch: int = ENDED_AT_ONCE) -> int:
    """Free the times of holds that have expired. Returns how many it found."""
    found = list(expired_holds(now).values_list("staff", flat=True)[:batch])
    staff = set(found)
    lock_staff_members(staff)
    release_expired_holds(staff=staff, now=now)
    return len(found)


@contextmanager
def taken_if_lost() -> Iterator[None]:
    """Run a transaction that occupies a time. Raises `TimeTaken` if another transaction was first."""
    try:
        with transaction.atomic():
            yield
    except Error as error:
        if sqlstate(error) not in LOST_STATES:
            raise
        raise TimeTaken from error


def occupy_with_class(session: ClassSession, now: datetime) -> None:
    """Occupy the host of a class at its time, instead of where it was before. The host's row is locked by the caller.

    A class may be outside of working hours. Raises `TimeTaken`.
    """
    Occupancy.objects.filter(class_session=session).delete()
    if session.staff_id is None:
        return
    release_expired_holds(staff=[session.staff_id], now=now)
    during = DateTimeTZRange(session.starts_at, session.ends_at, "[)")
    with taken_if_lost():
        Occupancy.objects.create(staff_id=session.staff_id, during=during, class_session=session)


def free_from_class(session: ClassSession) -> None:
    """Free the host of a class that is cancelled."""
    Occupancy.objects.filter(class_session=session).delete()


CLASS_SCHEDULE_HANDLER: Final = ClassScheduleHandler("appointments", occupy_with_class, free_from_class)


def record_appointment(
    *, appointment: Appointment, what: str, now: datetime, by: Actor, changes: Changes | None = None, reason: str = ""
) -> None:
    """Add the activity entry and the event of a change, such as `appointment.booked`, and call the handlers."""
    workspace = appointment.workspace
    details = {"starts_at": appointment.starts_at.isoformat(), **({"reason": reason} if reason else {})}
    record_activity(
        by=by,
        action=f"appointment.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("appointment", appointment.uuid, appointment.service.name),
        details=details,
        changes=changes,
    )
    moved = {name: {"from": before, "to": after} for name, (before, after) in (changes or {}).items()}
    beside = {"changes": moved} if changes is not None else {}
    record_workspace_event(workspace=workspace, name=f"appointment.{what}", now=now, appointment=appointment, **beside)
    for handler in appointment_handlers:
        handler.apply(appointment, what, now)


def _lock_contact_of(workspace: Workspace, contact: Contact) -> Contact:
    """Lock the contact before the staff, because handlers may change it. Raises `ContactNotFound`."""
    locked = lock_contact(contact)
    if locked.workspace_id != workspace.pk:
        raise ContactNotFound
    return locked


def _find_free_slot(
    *, workspace: Workspace, service: Service, starts_at: datetime, now: datetime, staff: Staff | None
) -> Slot:
    share_lock_service(service)
    if staff is not None and staff.workspace_id != workspace.pk:
        raise StaffNotFound
    candidates = lock_staff_members([one.pk for one in providers_of(service, staff=staff)])
    if staff is not None and not candidates:
        raise NotAProvider
    release_expired_holds(staff=[one.pk for one in candidates], now=now)
    slot = find_slot(workspace=workspace, service=service, candidates=candidates, starts_at=starts_at, now=now)
    if slot is None:
        raise TimeTaken
    return slot


def _create_appointment(
    *, slot: Slot, service: Service, contact: Contact, source: str, timezone: str, note: str, now: datetime
) -> Appointment:
    token, digest = new_token()
    return Appointment.objects.create(
        workspace=contact.workspace,
        contact=contact,
        service=service,
        staff=slot.staff,
        starts_at=slot.starts_at,
        ends_at=slot.ends_at,
        source=source,
        timezone=timezone,
        price=service.price,
        currency=contact.workspace.currency,
        note=note,
        token=token,
        token_digest=digest,
        created_at=now,
        updated_at=now,
    )


def _lock_contact_of_hold(hold: Hold) -> Contact:
    """Lock the contact who has the hold now, also after a merge. Raises `ContactNotFound`."""
    found = Contact.objects.filter(holds=hold.pk).first()
    if found is None:
        raise ContactNotFound
    return lock_contact(found)


def _lock_hold(hold: Hold) -> Hold:
    rows = Hold.objects.select_for_update(of=("self",), no_key=True).select_related("service")
    found = rows.filter(pk=hold.pk).first()
    if found is None:
        raise TimeTaken
    return found


def _release(hold: Hold, now: datetime) -> None:
    if hold.ended_at is None:
        hold.ended_at = now
        hold.save(update_fields=["ended_at"])
        Occupancy.objects.filter(hold=hold).delete()


def _occupied(service: Service, held: Hold) -> DateTimeTZRange:
    """Return what a hold occupies: the range that it has reserved, or that of the service's buffers today."""
    reserved = Occupancy.objects.filter(hold=held).values_list("during", flat=True).first()
    before, after = timedelta(minutes=service.buffer_before), timedelta(minutes=service.buffer_after)
    return reserved or occupied_span(held.starts_at, held.ends_at, before=before, after=after)
