"""Writes down what the provider says of payments, refunds and disputes. Facts are recorded always, and once.

A fact is read from the provider before the transaction begins. Facts that come late change nothing back: a refund only
moves forward, and a payment is known by the provider's id.
"""

import logging
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from agency.actors import SYSTEM, Actor
from workspaces.finance import events
from workspaces.finance.models import Checkout, Dispute, Payment, ProviderAccount, Refund
from workspaces.finance.providers.stripe import ProviderDispute, ProviderRefund, ReceivedPayment, from_provider
from workspaces.finance.services.invoices import lock_invoice
from workspaces.finance.services.payment_notifications import DISPUTED, REFUND_FAILED, notify_of_money
from workspaces.finance.services.received_payments import add_payment, record_payment_activity, recount_payment
from workspaces.subaccounts.services import record_workspace_event

logger = logging.getLogger(__name__)

# A refund can fail after it has succeeded: the payer's bank sends the money back.
FORWARD: Final = (Refund.Status.PENDING, Refund.Status.SUCCEEDED, Refund.Status.FAILED)


def uuid_of(reference: str) -> UUID | None:
    try:
        return UUID(reference)
    except ValueError:
        return None


@transaction.atomic
def record_provider_payment(*, checkout: Checkout, received: ReceivedPayment, now: datetime) -> Payment | None:
    """Record a payment that has succeeded, whatever the invoice's state is, and end its checkout.

    Gives None for a payment in another currency, which no session of ours can have.
    """
    invoice = lock_invoice(checkout.invoice)
    known = Payment.objects.filter(account=checkout.account_id, provider_id=received.id).first()
    if known is not None:
        return known
    if received.currency != invoice.currency:
        log = {"checkout": str(checkout.uuid), "payment": received.id, "currency": received.currency}
        logger.error("a payment came in another currency and was not recorded", extra=log)
        return None
    Checkout.objects.filter(pk=checkout.pk).update(status=Checkout.Status.PAID, failure="", check_at=None, ended_at=now)
    return add_payment(
        invoice=invoice,
        amount=from_provider(received.amount, received.currency, invoice.exponent),
        method=Payment.Method.STRIPE,
        received_at=now,
        now=now,
        by=SYSTEM,
        account=checkout.account,
        provider_id=received.id,
        checkout=checkout,
        fee=None if received.fee is None else from_provider(received.fee, received.currency, invoice.exponent),
    )


@transaction.atomic
def record_provider_refund(*, payment: Payment, told: ProviderRefund, now: datetime) -> Refund:
    """Record a refund, also one that was made at the provider, and what became of it."""
    payment = lock_payment(payment)
    refund = _refund_of(payment, told, now)
    before = refund.status
    if refund.provider_id and FORWARD.index(Refund.Status(told.status)) <= FORWARD.index(Refund.Status(before)):
        return refund
    refund.provider_id, refund.status = told.id, told.status
    if told.status != Refund.Status.PENDING:
        refund.call_at, refund.ended_at = None, now
    refund.save(update_fields=["provider_id", "status", "call_at", "ended_at"])
    if told.status != before or refund.tries == 0:
        end_refund(payment=payment, refund=refund, now=now)
    return refund


def _refund_of(payment: Payment, told: ProviderRefund, now: datetime) -> Refund:
    """Find the refund by the provider's id or by our own, or add the provider's."""
    known = payment.refunds.filter(provider_id=told.id).first()
    ours = uuid_of(told.reference)
    if known is None and ours is not None:
        known = payment.refunds.filter(uuid=ours, provider_id="").first()
    if known is not None:
        return known
    amount = from_provider(told.amount, told.currency, payment.invoice.exponent)
    return Refund.objects.create(payment=payment, amount=amount, method=Payment.Method.STRIPE, created_at=now)


def end_refund(*, payment: Payment, refund: Refund, now: datetime, by: Actor = SYSTEM) -> None:
    """Count a refund whose status has changed, and tell of it. The invoice is locked."""
    recount_payment(payment, now=now)
    if refund.status == Refund.Status.SUCCEEDED:
        record_payment_activity("refunded", payment=payment, amount=refund.amount, by=by)
        record_workspace_event(workspace=payment.workspace, name=events.PAYMENT_REFUNDED, now=now, payment=payment)
    elif refund.status == Refund.Status.FAILED:
        record_payment_activity("refund_failed", payment=payment, amount=refund.amount, by=SYSTEM)
        notify_of_money(REFUND_FAILED, invoice=payment.invoice, key=refund.uuid, amount=refund.amount, now=now)


@transaction.atomic
def record_provider_dispute(*, payment: Payment, told: ProviderDispute, now: datetime) -> None:
    """Record a dispute and whether its amount is withdrawn at the moment, also if that is more than was paid."""
    payment = lock_payment(payment)
    amount = from_provider(told.amount, told.currency, payment.invoice.exponent)
    values = {
        "amount": amount,
        "status": told.status,
        "reason": told.reason,
        "withdrawn": told.withdrawn,
        "changed_at": now,
    }
    dispute, is_new = Dispute.objects.get_or_create(
        payment=payment, provider_id=told.id, defaults={**values, "created_at": now}
    )
    changes = {name for name, value in values.items() if getattr(dispute, name) != value}
    if is_new:
        record_payment_activity("disputed", payment=payment, amount=amount, by=SYSTEM)
        notify_of_money(DISPUTED, invoice=payment.invoice, key=f"{payment.uuid}:{told.id}", amount=amount, now=now)
    elif changes - {"changed_at"}:
        Dispute.objects.filter(pk=dispute.pk).update(**values)
        record_payment_activity("dispute_changed", payment=payment, amount=amount, by=SYSTEM)
    recount_payment(payment, now=now)


def lock_payment(payment: Payment) -> Payment:
    """Lock the invoice and then the payment, and read both anew."""
    invoice = lock_invoice(payment.invoice)
    locked: Payment = Payment.objects.select_for_update(no_key=True).get(pk=payment.pk)
    locked.invoice, locked.workspace = invoice, invoice.workspace
    return locked


def payment_of(account: ProviderAccount, provider_id: str) -> Payment | None:
    """Find a payment by the provider's id."""
    rows = Payment.objects.filter(account=account, provider_id=provider_id)
    return rows.select_related("invoice").first() if provider_id else None
