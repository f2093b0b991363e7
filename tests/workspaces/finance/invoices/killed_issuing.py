"""Issues all drafts, killed at each of its statements: for `tests.processes.preloaded`."""

from agency.actors import SYSTEM
from config.db import database_now
from tests.processes.killed_at_statements import kill_at_each_statement
from workspaces.finance.models import Invoice
from workspaces.finance.services.invoices import issue_invoice


def work() -> None:
    """Issue one draft after the other."""
    for invoice in Invoice.objects.filter(status="draft").order_by("id"):
        issue_invoice(invoice=invoice, now=database_now(), by=SYSTEM)


def main() -> None:
    kill_at_each_statement(work)
