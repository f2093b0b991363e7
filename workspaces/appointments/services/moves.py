"""Moves of appointments: confirm, reschedule, cancel, complete and miss; and what happens when a contact leaves."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from django.db import transaction
from django.utils.timezone import now as current_time

from agency.actors import SYSTEM, Actor
from agency.services.activity import Changes
from config.errors import Conflict
from workspaces.appointments.models import Appointment, ClassBooking, Hold, Occupancy
from workspaces.appointments.services.assignment import find_slot
from workspaces.appointments.services.availability import providers_of
from workspaces.appointments.services.booking import (
    AppointmentNotFound,
    NotAProvider,
    TimeTaken,
    record_appointment,
    release_expired_holds,
    taken_if_lost,
)
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactMergeHandler, ContactRemovalHandler

Status = Appointment.Status
OPEN: Final = (Status.BOOKED, Status.CONFIRMED)


class AppointmentIsConfirmed(Conflict):
    message = "This appointment is confirmed already."


class AppointmentIsCancelled(Conflict):
    message = "This appointment is cancelled."


class AppointmentIsCompleted(Conflict):
    message = "This appointment is completed."


class AppointmentIsMissed(Conflict):
    message = "This appointment was missed."


class AppointmentNotStarted(Conflict):
    message = "This appointment has not started yet."


REFUSALS: dict[str, type[Conflict]] = {
    Status.CONFIRMED: AppointmentIsConfirmed,
    Status.CANCELLED: AppointmentIsCancelled,
    Status.COMPLETED: AppointmentIsCompleted,
    Status.MISSED: AppointmentIsMissed,
}


@transaction.atomic
def confirm_appointment(*, appointment: Appointment, now: datetime, by: Actor) -> Appointment:
    """Confirm a booked appointment. Raises the conflict of any other status."""
    locked = _lock(appointment, {Status.BOOKED})
    return _change_status(locked, Status.CONFIRMED, now=now, by=by)


@transaction.atomic
def complete_appointment(*, appointment: Appointment, now: datetime, by: Actor) -> Appointment:
    """Say that an appointment took place. Raises `AppointmentNotStarted`, or the conflict of its status."""
    return _end(appointment, Status.COMPLETED, now=now, by=by)


@transaction.atomic
def miss_appointment(*, appointment: Appointment, now: datetime, by: Actor) -> Appointment:
    """Say that the contact did not come. Raises `AppointmentNotStarted`, or the conflict of its status."""
    return _end(appointment, Status.MISSED, now=now, by=by)


@transaction.atomic
def cancel_appointment(*, appointment: Appointment, now: datetime, by: Actor, reason: str = "") -> Appointment:
    """Cancel an open appointment and free its time. Raises the conflict of any other status."""
    locked = _lock(appointment, OPEN)
    return _cancel(locked, now=now, by=by, reason=reason)


def reschedule_appointment(
    *, appointment: Appointment, starts_at: datetime, now: datetime, by: Actor, staff: Staff | None = None
) -> Appointment:
    """Move an open appointment to another time, to another person, or both. It keeps its length and its status.

    The new time follows the same rules as a booking. Without a real change nothing is recorded.

    Raises `TimeTaken`, `NotAProvider`, `StaffNotFound`, or the conflict of its status.
    """
    with taken_if_lost():
        _lock_contact(appointment)
        members = lock_staff_members({appointment.staff_id, staff.pk if staff else appointment.staff_id})
        locked = _lock(appointment, OPEN)
        target = _target(locked, members, appointment.staff if staff is None else staff)
        if (locked.starts_at, locked.staff_id) == (starts_at, target.pk):
            return locked
        release_expired_holds(staff=[target.pk], now=now)
        slot = find_slot(
            workspace=locked.workspace,
            service=locked.service,
            candidates=[target],
            starts_at=starts_at,
            now=now,
            ignoring=locked,
        )
        if slot is None:
            raise TimeTaken
        before = _reading(locked)
        locked.staff, locked.starts_at, locked.ends_at = target, slot.starts_at, slot.ends_at
        locked.calendar_sequence += 1
        locked.updated_at = now
        locked.save(update_fields=["staff", "starts_at", "ends_at", "calendar_sequence", "updated_at"])
        Occupancy.objects.filter(appointment=locked).update(staff=target, during=slot.during)
        record_appointment(
            appointment=locked, what="rescheduled", now=now, by=by, changes=_differences(before, _reading(locked))
        )
    return locked


def _target(locked: Appointment, members: Collection[Staff], wanted: Staff) -> Staff:
    """Return the locked row of the person who shall take the appointment."""
    found = next((one for one in members if one.pk == wanted.pk), None)
    if found is None or found.workspace_id != locked.workspace_id:
        raise StaffNotFound
    if not providers_of(locked.service, staff=found, ignoring=locked):
        raise NotAProvider
    return found


def _reading(appointment: Appointment) -> dict[str, str]:
    return {
        "starts_at": appointment.starts_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "ends_at": appointment.ends_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "staff": str(appointment.staff.uuid),
    }


def _differences(before: dict[str, str], after: dict[str, str]) -> Changes:
    return {name: (before[name], value) for name, value in after.items() if before[name] != value}


def _end(appointment: Appointment, status: str, *, now: datetime, by: Actor) -> Appointment:
    locked = _lock(appointment, OPEN)
    if locked.starts_at > now:
        raise AppointmentNotStarted
    return _change_status(locked, status, now=now, by=by)


def _cancel(locked: Appointment, *, now: datetime, by: Actor, reason: str = "") -> Appointment:
    Occupancy.objects.filter(appointment=locked).delete()
    locked.cancelled_at = now
    locked.calendar_sequence += 1
    return _change_status(locked, Status.CANCELLED, now=now, by=by, reason=reason)


def _change_status(locked: Appointment, status: str, *, now: datetime, by: Actor, reason: str = "") -> Appointment:
    """Save the status, which is also the name of what happened."""
    locked.status, locked.updated_at = status, now
    locked.save(update_fields=["status", "cancelled_at", "calendar_sequence", "updated_at"])
    record_appointment(appointment=locked, what=status, now=now, by=by, reason=reason)
    return locked


def _lock(appointment: Appointment, allowed: Collection[str]) -> Appointment:
    """Lock the contact and then the appointment. Raises the conflict of a status that is not among the allowed ones."""
    _lock_contact(appointment)
    rows = Appointment.objects.select_for_update(of=("self",), no_key=True).with_names().select_related("workspace")
    found = rows.filter(pk=appointment.pk).first()
    if found is None:
        raise AppointmentNotFound
    if found.status not in allowed:
        raise REFUSALS[found.status]
    return found


def _lock_contact(appointment: Appointment) -> None:
    """Lock the contact, if there is one, because handlers may change it."""
    contact = Contact.objects.filter(appointments=appointment.pk)
    list(contact.select_for_update(of=("self",), no_key=True).values_list("pk"))


def has_planned_appointments(planned: Service | Staff) -> bool:
    """Say whether something that is not over is booked or held with a service or a staff member."""
    moment = current_time()
    if planned.appointments.filter(status__in=OPEN, ends_at__gt=moment).exists():
        return True
    return planned.holds.filter(ended_at=None, expires_at__gt=moment).exists()


def _remove_contact(contact: int) -> None:
    """Cancel the appointments of a contact that are still to come, and forget the contact in all of them."""
    moment = current_time()
    rows = Appointment.objects.filter(contact=contact)
    locked = list(rows.select_for_update(of=("self",), no_key=True).with_names().select_related("workspace"))
    rows.update(contact=None)
    for appointment in locked:
        appointment.contact = None
        if appointment.is_open and appointment.starts_at > moment:
            _cancel(appointment, now=moment, by=SYSTEM)
    _forget_holds(contact, moment)


def _forget_holds(contact: int, moment: datetime) -> None:
    """End the holds of a contact that is being removed. One that is being paid is looked at now, for its money."""
    rows = Hold.objects.filter(contact=contact)
    keys = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Occupancy.objects.filter(hold__in=keys).delete()
    holds = Hold.objects.filter(pk__in=keys)
    holds.filter(ended_at=None).update(ended_at=moment)
    holds.filter(check_at__isnull=False).update(check_at=moment)
    holds.update(contact=None, note="")


def _move_to_contact(kept: int, gone: int) -> None:
    Appointment.objects.filter(contact=gone).update(contact=kept)
    Hold.objects.filter(contact=gone).update(contact=kept)
    ClassBooking.objects.filter(contact=gone).update(contact=kept)


REMOVAL_HANDLER: Final = ContactRemovalHandler("appointments", _remove_contact)
MERGE_HANDLER: Final = ContactMergeHandler("appointments", _move_to_contact)
