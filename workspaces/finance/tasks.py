"""The tasks of invoices and payments."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from workspaces.finance.services.overdue import newly_overdue, report_overdue_invoices

RUN_SECONDS = 45.0

due_work.add(DueWork("finance.report_overdue", (lambda: newly_overdue(Now()),)))


@shared_task(name="finance.report_overdue")
@one_at_a_time
def report_overdue() -> None:
    """Report every invoice whose due time has passed."""
    in_batches(lambda: report_overdue_invoices(now=database_now()), seconds=RUN_SECONDS)
