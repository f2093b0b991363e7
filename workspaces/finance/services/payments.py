"""Records payments that people enter by hand: cash, transfers, and whatever did not come through the provider."""

from datetime import datetime
from typing import Final

from django.db import transaction

from agency.actors import Actor
from config.errors import Conflict, InvalidInput, NotFound
from workspaces.finance.models import Invoice, Payment
from workspaces.finance.services.checkouts import CheckoutBeingPaid, unfinished_checkouts
from workspaces.finance.services.invoices import lock_invoice
from workspaces.finance.services.received_payments import PaymentHandler, add_payment, payment_handlers

__all__ = [
    "InvoiceTakesNoPayment",
    "PaymentHandler",
    "PaymentNotFound",
    "PaymentRefused",
    "by_hand",
    "payment_handlers",
    "record_payment",
]

# A payment through the provider is only recorded if the provider says so.
BY_HAND: Final = tuple(method for method in Payment.Method if method != Payment.Method.STRIPE)


class PaymentNotFound(NotFound):
    message = "Payment not found."


class InvoiceTakesNoPayment(Conflict):
    message = "A draft, a void invoice and a credit note take no payments."


class PaymentRefused(InvalidInput):
    """The amount is more than is owed, or a field of the payment is not possible."""

    field = "amount"
    message = "The amount must not be more than is owed."


def by_hand(method: str) -> bool:
    return method in BY_HAND


@transaction.atomic
def record_payment(
    *,
    invoice: Invoice,
    amount: int,
    method: str,
    now: datetime,
    by: Actor,
    received_at: datetime | None = None,
    note: str = "",
) -> Payment:
    """Record money that arrived; `amount` is in minor units.

    Callers close an open payment page first, by `end_checkouts`, which must not run in a transaction. Raises
    `InvoiceTakesNoPayment`, `PaymentRefused` and `CheckoutBeingPaid`.
    """
    if not by_hand(method):
        raise PaymentRefused("The selected method is invalid.", field="method")
    if received_at is not None and received_at > now:
        raise PaymentRefused("The received at field must not be in the future.", field="received_at")
    invoice = lock_invoice(invoice)
    if invoice.kind != Invoice.Kind.INVOICE or invoice.status not in {Invoice.Status.OPEN, Invoice.Status.PAID}:
        raise InvoiceTakesNoPayment
    if unfinished_checkouts(invoice).exists():
        raise CheckoutBeingPaid
    if not 0 < amount <= invoice.balance:
        raise PaymentRefused
    return add_payment(
        invoice=invoice, amount=amount, method=method, received_at=received_at or now, now=now, by=by, note=note
    )
