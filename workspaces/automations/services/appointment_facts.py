"""Records what happens to appointments and payments as facts, in their own transactions, with the values for texts."""

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.db import transaction

from config.wall_clock import known_zone
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.booking import AppointmentHandler
from workspaces.appointments.services.links import manage_url
from workspaces.automations.execution.answer_dates import moment_in_words
from workspaces.automations.execution.languages.contacts import languages_of
from workspaces.automations.models import AppointmentReminder
from workspaces.automations.services.reminders import (
    APPOINTMENT_NEAR,
    BATCH,
    LATEST,
    plan_reminders,
    take_due_reminders,
)
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.contacts.models import Contact

# The kinds of facts, by what happened. A confirmation starts nothing.
KINDS: Final = {
    "booked": "appointment_booked",
    "rescheduled": "appointment_rescheduled",
    "cancelled": "appointment_cancelled",
    "completed": "appointment_done",
    "missed": "appointment_missed",
}


def record_appointment_fact(appointment: Appointment, what: str, now: datetime) -> None:
    """Record what happened to a contact's appointment, and plan its reminders."""
    if what not in KINDS:
        return
    plan_reminders(appointment, now=now)
    contact = appointment.contact
    if contact is not None:
        key = f"{what}:{appointment.uuid}:{appointment.calendar_sequence}"
        record_trigger_events([appointment_fact(appointment, contact, KINDS[what], key, str(appointment.uuid))])


def appointment_fact(
    appointment: Appointment, contact: Contact, kind: str, source_key: str, subject: str
) -> NewTriggerEvent:
    return NewTriggerEvent(
        workspace_id=appointment.workspace_id,
        contact_id=contact.pk,
        kind=kind,
        source_key=source_key,
        subject=subject,
        data={"values": {"appointment": appointment_values(appointment, contact)}},
    )


def appointment_values(appointment: Appointment, contact: Contact) -> dict[str, str]:
    """Return the values of `{{appointment.…}}`, in the contact's language and by the clock of the person who booked."""
    zone = known_zone(appointment.timezone, appointment.workspace.timezone)
    attributes: dict[str, object] = contact.attributes or {}
    country = contact.country or ""
    languages = languages_of(str(attributes.get("language") or ""), country)
    local = appointment.starts_at.astimezone(ZoneInfo(zone))
    written = moment_in_words(local, languages=languages, country=country)
    return {
        "id": str(appointment.uuid),
        "starts_at": appointment.starts_at.isoformat(),
        "date": written.date,
        "time": written.time,
        "service": appointment.service.name,
        "staff": appointment.staff.name,
        "location": appointment.workspace.address,
        "link": manage_url(appointment),
    }


@transaction.atomic
def start_due_reminders(*, now: datetime) -> bool:
    """Record that appointments are near, and delete the reminders. Return whether there may be more.

    A reminder that is late by more than a day, or whose appointment has begun, is dropped.
    """
    found = take_due_reminders(now=now)
    in_time = [one for one in found if one.due_at > now - LATEST and one.appointment.starts_at > now]
    record_trigger_events([_near_fact(one, contact) for one in in_time if (contact := one.appointment.contact)])
    return len(found) == BATCH


def _near_fact(reminder: AppointmentReminder, contact: Contact) -> NewTriggerEvent:
    """Make the fact that an appointment is near. It is another one after the appointment has moved."""
    appointment = reminder.appointment
    moment = f"{appointment.starts_at.astimezone(UTC):%Y%m%d%H%M}"
    key = f"near:{appointment.uuid}:{moment}:{reminder.hours}"
    return appointment_fact(appointment, contact, APPOINTMENT_NEAR, key, str(reminder.hours))


APPOINTMENT_HANDLER: Final = AppointmentHandler("automations", record_appointment_fact)
