"""The one place that adds payments, and counts what went back from them. Callers hold the invoice's lock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypedDict, Unpack

from django.db.models import Sum

from agency.actors import Actor
from config.hooks import Registry
from workspaces.finance import events
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount, Refund
from workspaces.finance.services.invoices import issue_locked_draft
from workspaces.finance.services.payment_notifications import OVERPAID, notify_of_money
from workspaces.finance.services.recording import settle_invoice
from workspaces.subaccounts.services import record_workspace_activity, record_workspace_event
from workspaces.subaccounts.services.money import from_minor

COUNTED_REFUNDS: Final = (Refund.Status.PENDING, Refund.Status.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class PaymentHandler:
    """What a higher app does when a payment was recorded, such as booking what it pays for."""

    name: str
    apply: Callable[[Payment, datetime], None]


payment_handlers = Registry[PaymentHandler](
    "handlers of payments",
    called="`add_payment` calls each for a new payment, after the invoice was settled",
    transaction="the one that records the payment; the invoice is locked",
    failure="rolls the payment back; one that a provider reported is tried again later",
)


class PaymentDetails(TypedDict, total=False):
    """Where a payment comes from, as far as it is known."""

    note: str
    account: ProviderAccount
    provider_id: str
    checkout: Checkout
    fee: int | None


def add_payment(
    *,
    invoice: Invoice,
    amount: int,
    method: str,
    received_at: datetime,
    now: datetime,
    by: Actor,
    **details: Unpack[PaymentDetails],
) -> Payment:
    """Add a payment of a locked invoice, settle the invoice, and tell the handlers. More than is owed is flagged.

    A draft is issued first: somebody has paid it.
    """
    if invoice.is_draft:
        issue_locked_draft(invoice=invoice, now=now, by=by)
    payment = Payment.objects.create(
        workspace=invoice.workspace,
        invoice=invoice,
        amount=amount,
        currency=invoice.currency,
        method=method,
        received_at=received_at,
        created_at=now,
        **details,
    )
    settle_invoice(invoice=invoice, now=now)
    record_payment_activity("received", payment=payment, amount=amount, by=by)
    record_workspace_event(workspace=invoice.workspace, name=events.PAYMENT_RECEIVED, now=now, payment=payment)
    if invoice.balance < 0:
        too_much = min(amount, -invoice.balance)
        record_payment_activity("overpaid", payment=payment, amount=too_much, by=by)
        notify_of_money(OVERPAID, invoice=invoice, key=payment.uuid, amount=too_much, now=now)
    for handler in payment_handlers:
        handler.apply(payment, now)
    return payment


def recount_payment(payment: Payment, *, now: datetime) -> None:
    """Count anew what went back from a payment, and settle its invoice, which is locked."""
    refunds = payment.refunds.filter(status__in=COUNTED_REFUNDS).aggregate(sum=Sum("amount"))
    disputes = payment.disputes.filter(withdrawn=True).aggregate(sum=Sum("amount"))
    payment.refunded, payment.disputed = refunds["sum"] or 0, disputes["sum"] or 0
    payment.save(update_fields=["refunded", "disputed"])
    settle_invoice(invoice=payment.invoice, now=now)


def record_payment_activity(what: str, *, payment: Payment, amount: int, by: Actor) -> None:
    """Add an entry such as `payment.received`. It names the invoice by its number, and never the payer."""
    invoice = payment.invoice
    details: dict[str, object] = {
        "invoice": str(invoice.uuid),
        "number": invoice.number,
        "payment": str(payment.uuid),
        "amount": str(from_minor(amount, invoice.exponent)),
        "currency": invoice.currency,
    }
    record_workspace_activity(workspace=invoice.workspace, action=f"payment.{what}", by=by, details=details)
