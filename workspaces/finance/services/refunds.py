"""Gives money back: by hand at once, through the provider by a row that a task works off."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from config.db import TimeOrExpression, database_now
from config.errors import InvalidInput
from workspaces.finance.models import Payment, Refund
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.stripe import ProviderRefund, Stripe, to_provider
from workspaces.finance.services.payments import by_hand
from workspaces.finance.services.provider_facts import end_refund, lock_payment, record_provider_refund
from workspaces.finance.services.received_payments import record_payment_activity, recount_payment

Status = Refund.Status
FIRST_CHECK: Final = timedelta(hours=1)
LATER_CHECKS: Final = timedelta(hours=12)


class RefundRefused(InvalidInput):
    """The amount is more than is left of the payment, or the way back is not possible."""

    field = "amount"
    message = "The amount must not be more than is left of the payment."


@transaction.atomic
def refund_payment(
    *, payment: Payment, amount: int, now: datetime, by: Actor, reason: str = "", method: str = ""
) -> Refund:
    """Give money back the way it came, or by hand if `method` says so; `amount` is in minor units.

    A refund through the provider is pending, and already subtracted, until the provider has answered. Raises
    `RefundRefused`.
    """
    payment = lock_payment(payment)
    method = method or payment.method
    if not by_hand(method) and method != payment.method:
        raise RefundRefused("This payment did not come through the provider.", field="method")
    if not 0 < amount <= payment.left:
        raise RefundRefused
    is_called = not by_hand(method)
    refund = Refund.objects.create(
        payment=payment,
        amount=amount,
        method=method,
        reason=reason,
        status=Status.PENDING if is_called else Status.SUCCEEDED,
        call_at=now if is_called else None,
        created_at=now,
        ended_at=None if is_called else now,
    )
    if is_called:
        recount_payment(payment, now=now)
        record_payment_activity("refund_started", payment=payment, amount=amount, by=by)
    else:
        end_refund(payment=payment, refund=refund, now=now, by=by)
    return refund


def due_refunds(now: TimeOrExpression) -> "QuerySet[Refund]":
    """Return the refunds to call the provider for, in their order."""
    return Refund.objects.filter(call_at__lte=now).order_by("call_at")


def call_refund(stripe: Stripe, refund: Refund) -> None:
    """Ask the provider for a refund, or what became of it. Raises `ProviderFault`.

    If an earlier call may have been accepted, the provider's refunds are looked through first: after a day it knows
    the key no more.
    """
    payment = refund.payment
    try:
        told = _known(stripe, refund) or stripe.refund(
            payment=payment.provider_id,
            amount=to_provider(refund.amount, payment.currency, payment.invoice.exponent),
            key=refund.uuid,
        )
    except ProviderFault as fault:
        if fault.code not in {"refused", "not_found"}:
            raise
        fail_refund(refund, failure=fault.reason or fault.code)
        return
    now = database_now()
    recorded = record_provider_refund(payment=payment, told=told, now=now)
    if recorded.status == Status.PENDING:
        wait = LATER_CHECKS if refund.provider_id else FIRST_CHECK
        Refund.objects.filter(pk=recorded.pk, status=Status.PENDING).update(call_at=now + wait, tries=0)


def _known(stripe: Stripe, refund: Refund) -> ProviderRefund | None:
    if refund.provider_id:
        return stripe.read_refund(refund.provider_id)
    if refund.tries <= 1:
        return None
    made = stripe.refunds_of(refund.payment.provider_id)
    return next((one for one in made if one.reference == str(refund.uuid)), None)


@transaction.atomic
def fail_refund(refund: Refund, *, failure: str) -> None:
    """End a refund that the provider refuses. Its amount counts as paid again."""
    payment, now = lock_payment(refund.payment), database_now()
    found = Refund.objects.filter(pk=refund.pk, status=Status.PENDING).first()
    if found is None:
        return
    found.status, found.failure, found.call_at, found.ended_at = Status.FAILED, failure[:60], None, now
    found.save(update_fields=["status", "failure", "call_at", "ended_at"])
    end_refund(payment=payment, refund=found, now=now)
