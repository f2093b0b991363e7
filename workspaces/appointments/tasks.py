"""The tasks that free the times of expired holds, and read calendars of other programs."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from workspaces.appointments.services.booking import end_expired_holds, expired_holds
from workspaces.appointments.services.calendar_reading import read_next_calendars
from workspaces.appointments.services.external_calendars import due_calendars

RUN_SECONDS = 45.0
# A batch takes up to 76 s if all its files are hostile.
CALENDAR_SECONDS = 5.0

due_work.add(
    DueWork("appointments.end_holds", (lambda: expired_holds(Now()),)),
    DueWork("appointments.read_calendars", (lambda: due_calendars(Now()),)),
)


@shared_task(name="appointments.end_holds")
@one_at_a_time
def end_holds() -> None:
    """Free the time of every hold that has expired."""
    in_batches(lambda: end_expired_holds(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="appointments.read_calendars")
@one_at_a_time
def read_calendars() -> None:
    """Read the calendars of other programs that are due."""
    in_batches(read_next_calendars, seconds=CALENDAR_SECONDS)
