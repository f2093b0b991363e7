"""Records changes of invoices: activity, events, and that an invoice is overdue or paid.

What is paid of an invoice is always what its payments, refunds and disputes say.
"""

from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from agency.actors import SYSTEM, Actor
from agency.services.activity import Changes
from agency.services.events import subscribed_events
from config.db import TimeOrExpression
from workspaces.finance import events
from workspaces.finance.models import Invoice
from workspaces.subaccounts.services import record_workspace_activity, record_workspace_event

REPORTED_AT_ONCE: Final = 100


def record_invoice_activity(*, invoice: Invoice, what: str, by: Actor = SYSTEM, changes: Changes | None = None) -> None:
    """Add an entry such as `invoice.issued`. It names the invoice by its number, and never the buyer."""
    details = {"invoice": str(invoice.uuid), "number": invoice.number or ""}
    record_workspace_activity(
        workspace=invoice.workspace, action=f"invoice.{what}", by=by, details=details, changes=changes
    )


def record_invoice_event(*, invoice: Invoice, name: str, now: datetime) -> None:
    """Record an event with the invoice as the API reads it, in the change's transaction."""
    if name in subscribed_events({invoice.workspace_id}).get(invoice.workspace_id, ()):
        shown = Invoice.objects.with_parts().get(pk=invoice.pk)
        record_workspace_event(workspace=invoice.workspace, name=name, now=now, invoice=shown)


def newly_overdue(now: TimeOrExpression) -> "QuerySet[Invoice]":
    """Return open invoices past due that were not reported, in the order of their due times."""
    rows = Invoice.objects.filter(status="open", kind="invoice", overdue_at=None, due_at__lte=now)
    return rows.order_by("due_at")


@transaction.atomic
def report_overdue_invoices(*, now: datetime, batch: int = REPORTED_AT_ONCE) -> int:
    """Record `invoice.overdue` for invoices past due. Return their number. Locked ones wait for the next run."""
    due = newly_overdue(now).select_for_update(skip_locked=True, no_key=True, of=("self",))
    found = list(due.select_related("workspace")[:batch])
    Invoice.objects.filter(pk__in=[invoice.pk for invoice in found]).update(overdue_at=now)
    for invoice in found:
        record_invoice_event(invoice=invoice, name=events.INVOICE_OVERDUE, now=now)
    return len(found)


# Paid ----------------------------------------------------------------------------------------------


# A trigger compares the same sum with the invoice at each commit.
PAID = "SELECT finance_paid(%s)"


def settle_invoice(*, invoice: Invoice, now: datetime) -> None:
    """Compute `paid` anew, and mark an open invoice as paid once nothing is owed. The caller holds its lock.

    A refund or a dispute opens no paid invoice again.
    """
    with connection.cursor() as cursor:
        cursor.execute(PAID, [invoice.pk])
        [invoice.paid] = cursor.fetchone()
    becomes_paid = (
        invoice.kind == Invoice.Kind.INVOICE and invoice.status == Invoice.Status.OPEN and invoice.balance <= 0
    )
    if becomes_paid:
        invoice.status, invoice.paid_at = Invoice.Status.PAID, now
    invoice.updated_at = now
    invoice.save(update_fields=["paid", "status", "paid_at", "updated_at"])
    if becomes_paid:
        record_invoice_activity(invoice=invoice, what="paid")
        record_invoice_event(invoice=invoice, name=events.INVOICE_PAID, now=now)
