"""The tasks about holds: they free expired ones, and book those that are paid. Another forgets what visitors typed."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.retention import forget
from workspaces.appointments.services.booking import end_expired_holds, expired_holds
from workspaces.appointments.services.deposits import due_holds, settle_next_hold
from workspaces.appointments.services.visitors import RETENTION_RULES

RUN_SECONDS = 45.0

due_work.add(
    DueWork("appointments.end_holds", (lambda: expired_holds(Now()),)),
    DueWork("appointments.settle_deposits", (lambda: due_holds(Now()),)),
)


@shared_task(name="appointments.end_holds")
@one_at_a_time
def end_holds() -> None:
    """Free the time of every hold that has expired."""
    in_batches(lambda: end_expired_holds(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="appointments.settle_deposits")
@one_at_a_time
def settle_deposits() -> None:
    """Book the times whose deposit is paid, and cancel the invoices of deposits that were not paid in time."""
    in_batches(lambda: settle_next_hold(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="appointments.forget_visitors")
@one_at_a_time
def forget_visitors() -> None:
    """Delete what visitors typed on booking pages some days ago."""
    forget(RETENTION_RULES)
