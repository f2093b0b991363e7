"""Checkouts: one attempt to pay an invoice at the provider, from the click to the payment or the end.

The row is stored first, and its uuid is the key of the provider's call. So a call whose answer was lost is made again
and gives the same session. No provider is called inside a transaction.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from agency.services.hosts import base_url_of
from config.db import TimeOrExpression, database_now
from config.errors import Conflict
from workspaces.finance.models import Checkout, Invoice
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.stripe import NewSession, Session, Stripe, to_provider
from workspaces.finance.services.accounts import PaymentsUnavailable, require_account, stripe_of
from workspaces.finance.services.invoices import lock_invoice
from workspaces.finance.services.provider_facts import record_provider_payment

Status = Checkout.Status
UNFINISHED: Final = (Status.STARTING, Status.OPEN, Status.PROCESSING)
# Stripe's least is 30 minutes.
LASTS: Final = timedelta(minutes=35)
# A payer who comes back to a session has at least this long to pay.
STILL_LASTS: Final = timedelta(minutes=2)
# What is read well on a payment page.
LONGEST_TITLE: Final = 250
# Until then the click that started a checkout finishes it by itself.
STARTING_TAKES: Final = timedelta(minutes=1)
OPEN_CHECKS: Final = timedelta(minutes=10)
FIRST_PROCESSING_CHECK: Final = timedelta(minutes=30)
LATER_PROCESSING_CHECKS: Final = timedelta(hours=6)
# A session that has ended cannot be paid any more. This is for the difference of the clocks.
CERTAINLY_ENDED: Final = timedelta(minutes=10)


class NothingToPay(Conflict):
    message = "Nothing is owed for this invoice."


class CheckoutBeingPaid(Conflict):
    message = "A payment of this invoice is being processed."


class CheckoutStillOpen(Conflict):
    message = "A payment page of this invoice is open and cannot be closed right now. Try again in a moment."


def start_checkout(*, invoice: Invoice, now: datetime, success_path: str = "", cancel_path: str = "") -> Checkout:
    """Give an open checkout of exactly what is owed; a second click gives the same one.

    Payers return to these paths, by default the pay page, which a prepayment does not have. Do not call it inside a
    transaction. Raises `PaymentsUnavailable`, `NothingToPay` and `CheckoutBeingPaid`.
    """
    checkout = _prepare(invoice, now, success_path, cancel_path)
    if checkout is None:
        end_checkouts(invoice=invoice, now=now)
        checkout = _prepare(invoice, now, success_path, cancel_path)
    if checkout is None:
        raise PaymentsUnavailable
    if checkout.status == Status.STARTING:
        checkout = finish_start(checkout)
    if checkout.status != Status.OPEN:
        raise PaymentsUnavailable
    return checkout


@transaction.atomic
def _prepare(invoice: Invoice, now: datetime, success_path: str, cancel_path: str) -> Checkout | None:
    """Return the checkout to go on with; None if another one must be ended first."""
    invoice = lock_invoice(invoice)
    if not invoice.takes_checkouts or invoice.balance <= 0:
        raise NothingToPay
    account = require_account(invoice.workspace)
    present = unfinished_checkouts(invoice).first()
    if present is None:
        return Checkout.objects.create(
            uuid=uuid4(),
            invoice=invoice,
            account=account,
            amount=invoice.balance,
            currency=invoice.currency,
            success_path=success_path,
            cancel_path=cancel_path,
            expires_at=now + LASTS,
            check_at=now + STARTING_TAKES,
            created_at=now,
        )
    if present.status == Status.PROCESSING:
        raise CheckoutBeingPaid
    lasts = present.expires_at > now + STILL_LASTS and present.account_id == account.pk
    return present if lasts and present.amount == invoice.balance else None


def unfinished_checkouts(invoice: Invoice) -> "QuerySet[Checkout]":
    rows = Checkout.objects.filter(invoice=invoice, status__in=UNFINISHED)
    return rows.select_related("invoice__workspace__agency", "account__workspace__agency")


def finish_start(checkout: Checkout) -> Checkout:
    """Make the session of a stored checkout, or get the one that an earlier call made. Raises `PaymentsUnavailable`."""
    try:
        with stripe_of(checkout.account) as stripe:
            session = stripe.start_session(_session_of(checkout))
    except ProviderFault as fault:
        if fault.code == "refused":  # no session exists under this key, and none ever will
            _end(checkout, Status.FAILED, fault.reason or fault.code)
        raise PaymentsUnavailable from fault
    return _open(checkout, session, database_now())


def _session_of(checkout: Checkout) -> NewSession:
    """Give the same values whenever this is called."""
    invoice = checkout.invoice
    base = base_url_of(invoice.workspace.agency_id)
    page = reverse("pay:page", args=[invoice.token]) if invoice.token else ""
    return NewSession(
        key=checkout.uuid,
        title=_title_of(invoice),
        amount=to_provider(checkout.amount, checkout.currency, invoice.exponent),
        currency=checkout.currency,
        invoice=invoice.uuid,
        success_url=base + (checkout.success_path or f"{page}/done"),
        cancel_url=base + (checkout.cancel_path or page),
        expires_at=checkout.expires_at,
        language=_language_of(invoice.language),
    )


def _title_of(invoice: Invoice) -> str:
    """Return what the payer reads on the provider's page: the number, or what is paid for in advance."""
    if not invoice.is_prepayment:
        return str(invoice.number)
    description = invoice.lines.order_by("position").values_list("description", flat=True)[0]
    return str(description)[:LONGEST_TITLE]


def _language_of(language: str) -> str:
    return {"pt-br": "pt-BR"}.get(language, language)


@transaction.atomic
def _open(checkout: Checkout, session: Session, now: datetime) -> Checkout:
    locked = _lock(checkout)
    if locked.status == Status.STARTING:
        locked.status, locked.provider_id, locked.address = Status.OPEN, session.id, session.address
        locked.check_at, locked.tries = now + OPEN_CHECKS, 0
        locked.save(update_fields=["status", "provider_id", "address", "check_at", "tries"])
    return locked


def _lock(checkout: Checkout) -> Checkout:
    lock_invoice(checkout.invoice)
    rows = Checkout.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("invoice__workspace__agency", "account__workspace__agency").get(pk=checkout.pk)


# The end ------------------------------------------------------------------------------------------


def end_checkouts(*, invoice: Invoice, now: datetime) -> None:
    """Close the open payment page of an invoice, so that nobody pays twice. Call it before a change of what is owed.

    Do not call it inside a transaction. If somebody has just paid, the payment is recorded. Raises `CheckoutBeingPaid`
    and `CheckoutStillOpen`.
    """
    for checkout in unfinished_checkouts(invoice):
        try:
            with stripe_of(checkout.account) as stripe:
                settled = _close(stripe, checkout)
        except ProviderFault as fault:
            if checkout.expires_at + CERTAINLY_ENDED > now:
                raise CheckoutStillOpen from fault
            settled = _end(checkout, Status.EXPIRED, fault.code)
        if settled.status == Status.PROCESSING:
            raise CheckoutBeingPaid
        if settled.status in UNFINISHED:
            raise CheckoutStillOpen


def _close(stripe: Stripe, checkout: Checkout) -> Checkout:
    if checkout.status == Status.STARTING:
        try:
            checkout = _open(checkout, stripe.start_session(_session_of(checkout)), database_now())
        except ProviderFault as fault:
            if fault.code != "refused":
                raise
            return _end(checkout, Status.FAILED, fault.reason or fault.code)
    try:
        session = stripe.expire_session(checkout.provider_id)
    except ProviderFault as fault:
        if fault.code != "refused":
            raise
        session = stripe.session(checkout.provider_id)  # it has ended: paid, or expired
    return apply_session(stripe, checkout, session, database_now())


@transaction.atomic
def _end(checkout: Checkout, status: Checkout.Status, failure: str = "") -> Checkout:
    """End a checkout that nobody has paid."""
    locked = _lock(checkout)
    if locked.status in UNFINISHED:
        locked.status, locked.failure = status, failure[:60]
        locked.check_at, locked.ended_at = None, database_now()
        locked.save(update_fields=["status", "failure", "check_at", "ended_at"])
    return locked


# What the provider says ---------------------------------------------------------------------------


def due_checkouts(now: TimeOrExpression) -> "QuerySet[Checkout]":
    """Return the checkouts to ask about, in their order."""
    return Checkout.objects.filter(check_at__lte=now).order_by("check_at")


def check_checkout(stripe: Stripe, checkout: Checkout) -> None:
    """Ask the provider about a checkout, or finish its start. Raises `ProviderFault`."""
    if checkout.status == Status.STARTING:
        try:
            _open(checkout, stripe.start_session(_session_of(checkout)), database_now())
        except ProviderFault as fault:
            if fault.code != "refused":
                raise
            _end(checkout, Status.FAILED, fault.reason or fault.code)
        return
    try:
        session = stripe.session(checkout.provider_id)
    except ProviderFault as fault:
        if fault.code != "not_found":
            raise
        _end(checkout, Status.FAILED, fault.code)
        return
    apply_session(stripe, checkout, session, database_now())


def apply_session(stripe: Stripe, checkout: Checkout, session: Session, now: datetime) -> Checkout:
    """Bring a checkout to the state of its session, and record its payment."""
    if session.status == "expired":
        return _end(checkout, Status.EXPIRED)
    if session.status != "complete" or not session.payment:
        return _check_later(checkout, Status.OPEN, now)
    received = stripe.payment(session.payment)
    if received.has_succeeded:
        record_provider_payment(checkout=checkout, received=received, now=now)
        return _lock_and_read(checkout)
    if received.has_failed:
        return _end(checkout, Status.FAILED, received.status)
    return _check_later(checkout, Status.PROCESSING, now)


@transaction.atomic
def _lock_and_read(checkout: Checkout) -> Checkout:
    return _lock(checkout)


@transaction.atomic
def _check_later(checkout: Checkout, status: Checkout.Status, now: datetime) -> Checkout:
    locked = _lock(checkout)
    if locked.status not in UNFINISHED or (locked.status, status) == (Status.PROCESSING, Status.OPEN):
        return locked
    if status == Status.PROCESSING:
        is_first = locked.status != status
        locked.check_at = now + (FIRST_PROCESSING_CHECK if is_first else LATER_PROCESSING_CHECKS)
    else:
        locked.check_at = now + OPEN_CHECKS
    locked.status, locked.tries = status, 0
    locked.save(update_fields=["status", "check_at", "tries"])
    return locked
