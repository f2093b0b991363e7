"""Events of the provider: stored as they come, and handled by fetching the object that they name.

An event only says that something happened. What counts is what the provider says of the object when we ask, so events
may be doubled, late, or in any order.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from config.db import TimeOrExpression, database_now
from config.retention import ExpiredRows
from workspaces.finance.models import Checkout, Payment, ProviderAccount, ProviderEvent
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.stripe import Stripe
from workspaces.finance.providers.webhooks import ProviderNotice
from workspaces.finance.services.accounts import connected_accounts
from workspaces.finance.services.checkouts import apply_session
from workspaces.finance.services.payouts import PAYOUTS_REFUSED, fetch_payout
from workspaces.finance.services.provider_facts import (
    payment_of,
    record_provider_dispute,
    record_provider_payment,
    record_provider_refund,
    uuid_of,
)

# Stripe sends an event again for three days if it is not accepted.
MOST_WAITING: Final = 1_000
KEPT: Final = timedelta(days=90)
RULES: Final = (
    ExpiredRows("finance_providerevent", "received_at", KEPT, order="received_at", only="due_at IS NULL").rule(
        "payment_events"
    ),
)
CHECKOUTS: Final = ("invoice__workspace__agency", "account__workspace__agency")


def account_of_webhook(uuid: UUID | None) -> ProviderAccount | None:
    """Find the connected account whose webhook endpoint has this id in its address."""
    return connected_accounts().filter(uuid=uuid).exclude(endpoint_id="").first() if uuid else None


def store_event(*, account: ProviderAccount, notice: ProviderNotice, now: datetime) -> bool:
    """Store an event to be handled. False if so many wait already that the provider must send it later.

    One that came before, and one about a session that is not ours, are accepted and not stored.
    """
    if notice.kind.startswith("checkout.session.") and uuid_of(notice.reference) is None:
        return True
    waiting = account.events.filter(due_at__isnull=False).values("pk")[:MOST_WAITING]
    if len(waiting) == MOST_WAITING:
        return False
    ProviderEvent.objects.bulk_create(
        [
            ProviderEvent(
                account=account,
                event_id=notice.event_id,
                kind=notice.kind,
                object_id=notice.object_id,
                received_at=now,
                due_at=now,
            )
        ],
        ignore_conflicts=True,
    )
    return True


def due_events(now: TimeOrExpression) -> "QuerySet[ProviderEvent]":
    """Return the events to handle, in their order."""
    return ProviderEvent.objects.filter(due_at__lte=now).order_by("due_at")


def handle_event(stripe: Stripe, event: ProviderEvent) -> None:
    """Fetch what an event is about, and record it. Raises `ProviderFault`.

    A payment that does not belong to an invoice is left alone: the account may have other uses.
    """
    try:
        if event.kind.startswith("checkout.session."):
            _handle_session(stripe, event)
        elif event.kind.startswith("refund."):
            _handle_refund(stripe, event)
        elif event.kind.startswith("payout."):
            fetch_payout(stripe, event.account, event.object_id)
        else:
            _handle_dispute(stripe, event)
    except ProviderFault as fault:
        if fault.code not in {"not_found", "refused", PAYOUTS_REFUSED}:
            raise
        end_event(event, failure=fault.code)
        return
    end_event(event)


def end_event(event: ProviderEvent, *, failure: str = "") -> None:
    now = database_now()
    ProviderEvent.objects.filter(pk=event.pk).update(
        due_at=None, handled_at=None if failure else now, failure=failure[:60]
    )


def _handle_session(stripe: Stripe, event: ProviderEvent) -> None:
    session = stripe.session(event.object_id)
    checkout = _checkout_of(event.account, session.reference)
    if checkout is not None:
        apply_session(stripe, checkout, session, database_now())


def _checkout_of(account: ProviderAccount, reference: str) -> Checkout | None:
    ours = uuid_of(reference)
    if ours is None:
        return None
    return Checkout.objects.filter(account=account, uuid=ours).select_related(*CHECKOUTS).first()


def _handle_refund(stripe: Stripe, event: ProviderEvent) -> None:
    told = stripe.read_refund(event.object_id)
    payment = _payment_of(stripe, event.account, told.payment)
    if payment is not None:
        record_provider_refund(payment=payment, told=told, now=database_now())


def _handle_dispute(stripe: Stripe, event: ProviderEvent) -> None:
    told = stripe.dispute(event.object_id)
    payment = _payment_of(stripe, event.account, told.payment)
    if payment is not None:
        record_provider_dispute(payment=payment, told=told, now=database_now())


def _payment_of(stripe: Stripe, account: ProviderAccount, provider_id: str) -> Payment | None:
    """Find the payment; record it first if the event about it has not come yet. None if it is not of an invoice."""
    known = payment_of(account, provider_id)
    if known is not None or not provider_id:
        return known
    received = stripe.payment(provider_id)
    checkout = _checkout_of(account, received.reference)
    if checkout is None or not received.has_succeeded:
        return None
    return record_provider_payment(checkout=checkout, received=received, now=database_now())
