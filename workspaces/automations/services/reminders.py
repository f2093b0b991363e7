"""Plans moments before appointments, at which automations start: rows that follow the appointment when it moves."""

from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from workspaces.appointments.models import Appointment
from workspaces.automations.models import AppointmentReminder, Automation

APPOINTMENT_NEAR: Final = "appointment_near"
# A reminder that is found later than this is dropped. None comes after the appointment has begun.
LATEST: Final = timedelta(hours=24)
BATCH: Final = 200

# The moments of appointments that are still to come, for automations that are on. Only moments in the future count, so
# one that has passed already is not planned again.
PLAN: Final = """
INSERT INTO automations_appointmentreminder (appointment_id, hours, due_at)
SELECT DISTINCT appointment.id, wanted.hours, appointment.starts_at - make_interval(hours => wanted.hours)
FROM (
    SELECT DISTINCT automation.workspace_id, (version.flow #>> '{{trigger,config,hours}}')::integer AS hours
    FROM automations_automation automation
    JOIN automations_automationversion version ON version.id = automation.published_id
    WHERE automation.enabled AND automation.trigger = 'appointment_near' AND {automations}
) AS wanted
JOIN appointments_appointment appointment ON appointment.workspace_id = wanted.workspace_id
    AND appointment.status IN ('booked', 'confirmed')
    AND appointment.starts_at - make_interval(hours => wanted.hours) > %(now)s
    AND appointment.starts_at > %(now)s
WHERE {appointments}
ON CONFLICT (appointment_id, hours) DO NOTHING
"""
OF_APPOINTMENT: Final = PLAN.format(
    automations="automation.workspace_id = %(id)s", appointments="appointment.id = %(appointment)s"
)
OF_WORKSPACE: Final = PLAN.format(automations="automation.workspace_id = %(id)s", appointments="true")
OF_ALL: Final = PLAN.format(automations="true", appointments="true")


def plan_reminders(appointment: Appointment, *, now: datetime) -> None:
    """Plan the reminders of an appointment anew. One that is not open any more has none."""
    AppointmentReminder.objects.filter(appointment=appointment).delete()
    if appointment.is_open and appointment.contact_id is not None:
        _execute(OF_APPOINTMENT, now=now, id=appointment.workspace_id, appointment=appointment.pk)


def plan_reminders_of(automation: Automation, *, now: datetime) -> None:
    """Plan the reminders of the appointments that are booked already, when an automation begins to wait for them."""
    if automation.enabled and automation.trigger == APPOINTMENT_NEAR:
        _execute(OF_WORKSPACE, now=now, id=automation.workspace_id)


def plan_missing_reminders(*, now: datetime) -> None:
    """Plan what a booking and a switch-on at the same moment have missed of each other."""
    with transaction.atomic():
        _execute(OF_ALL, now=now)


def _execute(statement: str, **values: datetime | int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def due_reminders() -> QuerySet[AppointmentReminder]:
    return AppointmentReminder.objects.filter(due_at__lte=Now()).order_by("due_at", "pk")


def take_due_reminders(*, now: datetime) -> list[AppointmentReminder]:
    """Delete the reminders that are due, at most a batch, in the caller's transaction, and return them.

    The caller starts the automations in the same transaction.
    """
    rows = AppointmentReminder.objects.filter(due_at__lte=now).order_by("due_at", "pk")
    beside = ("appointment__workspace", "appointment__contact", "appointment__service", "appointment__staff")
    found = list(rows.select_for_update(of=("self",), skip_locked=True).select_related(*beside)[:BATCH])
    AppointmentReminder.objects.filter(pk__in=[one.pk for one in found]).delete()
    return found
