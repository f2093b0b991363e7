"""Prepayments: invoices that are paid at the provider while they are drafts, and issued by their payment.

So a prepayment that nobody pays takes no number, and needs no credit note.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from workspaces.contacts.models import Contact
from workspaces.finance.models import Checkout, Invoice
from workspaces.finance.services.details import check_complete
from workspaces.finance.services.invoices import (
    InvoiceIsPaid,
    InvoiceNotDraft,
    LineInput,
    create_invoice,
    delete_locked_draft,
    lock_invoice,
)
from workspaces.subaccounts.models import Workspace


@transaction.atomic
def create_prepayment(
    *, workspace: Workspace, contact: Contact, lines: Sequence[LineInput], now: datetime, by: Actor
) -> Invoice:
    """Create the draft that a payment will issue. It keeps a copy of the buyer: the contact may be removed meanwhile.

    Raises what `create_invoice` raises, and `InvoiceRefused` for what could not be issued.
    """
    invoice = create_invoice(workspace=workspace, contact=contact, lines=lines, now=now, by=by)
    check_complete(invoice, now)
    invoice.buyer, invoice.is_prepayment = invoice.billed_to.as_json(), True
    invoice.save(update_fields=["buyer", "is_prepayment"])
    return invoice


@transaction.atomic
def discard_prepayment(*, invoice: Invoice, by: Actor) -> None:
    """Delete the draft of a prepayment that nobody has paid.

    If the provider was not there to say how a checkout has ended, the draft stays as an ordinary one: a payment that
    is reported later still issues it. Raises `InvoiceIsBeingPaid`, and `InvoiceNotDraft` or `InvoiceIsPaid` for one
    that was paid.
    """
    invoice = lock_invoice(invoice)
    if not invoice.is_draft:
        raise InvoiceNotDraft
    if invoice.paid:
        raise InvoiceIsPaid
    if invoice.checkouts.filter(status=Checkout.Status.EXPIRED).exclude(failure="").exists():
        Invoice.objects.filter(pk=invoice.pk).update(is_prepayment=False)
    else:
        delete_locked_draft(invoice=invoice, by=by)
