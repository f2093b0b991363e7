"""The tasks of invoices and payments."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from workspaces.finance.services.checkouts import due_checkouts
from workspaces.finance.services.payouts import due_payouts
from workspaces.finance.services.provider_events import RULES, due_events, due_looks
from workspaces.finance.services.provider_work import call_providers
from workspaces.finance.services.recording import newly_overdue, report_overdue_invoices
from workspaces.finance.services.refunds import due_refunds

RUN_SECONDS = 45.0

due_work.add(DueWork("finance.report_overdue", (lambda: newly_overdue(Now()),)))


@shared_task(name="finance.report_overdue")
@one_at_a_time
def report_overdue() -> None:
    """Report every invoice whose due time has passed."""
    in_batches(lambda: report_overdue_invoices(now=database_now()), seconds=RUN_SECONDS)


PROVIDER_SECONDS = 25.0

due_work.add(
    DueWork(
        "finance.call_provider",
        (
            lambda: due_events(Now()),
            lambda: due_refunds(Now()),
            lambda: due_checkouts(Now()),
            lambda: due_payouts(Now()),
            lambda: due_looks(Now()),
        ),
    )
)


@shared_task(name="finance.call_provider")
@one_at_a_time
def call_provider() -> None:
    """Handle events of payment providers and look for lost ones, make refunds, look after checkouts and payouts."""
    call_providers(seconds=PROVIDER_SECONDS)


@shared_task(name="finance.forget_events")
@one_at_a_time
def forget_events() -> None:
    """Delete old events of payment providers in batches."""
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
