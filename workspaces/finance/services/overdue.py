"""Reports invoices whose due time has passed, once each."""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from config.db import TimeOrExpression
from workspaces.finance import events
from workspaces.finance.models import Invoice
from workspaces.finance.services.recording import record_invoice_event

REPORTED_AT_ONCE: Final = 100


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
