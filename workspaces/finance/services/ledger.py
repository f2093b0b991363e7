"""What is paid of an invoice: always what its payments, refunds and disputes say."""

from datetime import datetime

from django.db import connection

from workspaces.finance import events
from workspaces.finance.models import Invoice
from workspaces.finance.services.recording import record_invoice_activity, record_invoice_event

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
