"""Payouts of the payment provider: recorded as it tells of them, with the transactions that each consists of.

A payout is fetched when an event names it, and listed with others when somebody asks what was missed. Its status only
goes forward. The transactions of an automatic payout are listed in pieces, from a row that is due until all are known.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from agency.actors import SYSTEM
from config.db import TimeOrExpression, database_now
from config.errors import NotFound
from workspaces.finance.models import Payment, Payout, PayoutTransaction, ProviderAccount, Refund
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.payouts import BalanceTransaction, ProviderPayout
from workspaces.finance.providers.stripe import Stripe, from_provider
from workspaces.finance.services.payment_notifications import notify_of_failed_payout
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity
from workspaces.subaccounts.services.money import decimals_of, from_minor

Status = Payout.Status
# A bank can send a payout back after it was paid. One that has failed or was cancelled has ended.
RANKS: Final = {Status.PENDING: 0, Status.IN_TRANSIT: 1, Status.PAID: 2, Status.FAILED: 3, Status.CANCELED: 3}
UNFINISHED: Final = Q(status__in=[Status.PENDING, Status.IN_TRANSIT]) | Q(
    automatic=True, listed_at=None, list_at=None, status=Status.PAID
)
# The fault of a key that may not read payouts. The account goes on without them.
PAYOUTS_REFUSED: Final = "payouts_refused"
# Each is a call of at most ten seconds.
MOST_PAGES: Final = 3
MOST_TRANSACTIONS: Final = 100_000
# The ends of a listing after which it is not begun again.
FOR_GOOD: Final = frozenset({"not_found", "refused", "broke_off", "too_many"})
# A bank sends a payout back within five business days.
SENT_BACK: Final = timedelta(days=10)
# A payout that failed long ago is no news.
NEWS: Final = timedelta(days=30)
# A payout that should have arrived some days ago is still shown as expected.
LATE: Final = timedelta(days=10)
MOST_EXPECTED: Final = 5


class PayoutNotFound(NotFound):
    message = "Payout not found."


@contextmanager
def _reading_payouts(account: ProviderAccount) -> Iterator[None]:
    """Record whether the key may read payouts. Raises `ProviderFault` with `PAYOUTS_REFUSED` if it may not."""
    try:
        yield
    except ProviderFault as fault:
        if fault.code != "permission_missing":
            raise
        refused = ProviderAccount.objects.filter(pk=account.pk, payouts_refused_at=None)
        refused.update(payouts_refused_at=database_now())
        raise ProviderFault(PAYOUTS_REFUSED, fault.reason) from fault
    ProviderAccount.objects.filter(pk=account.pk).exclude(payouts_refused_at=None).update(payouts_refused_at=None)


def fetch_payout(stripe: Stripe, account: ProviderAccount, provider_id: str) -> None:
    """Record what the provider says of a payout now. Raises `ProviderFault`."""
    with _reading_payouts(account):
        told = stripe.payout(provider_id)
    record_payout(account=account, told=told, now=database_now())


def record_recent_payouts(stripe: Stripe, account: ProviderAccount, since: datetime) -> None:
    """Ask for the payouts that were made since then, and for those that can still change. Raises `ProviderFault`.

    A key that may not read payouts changes nothing. Of very many payouts the last three hundred are asked for.
    """
    begin, after = _begin_of(account, since), ""
    for _page in range(MOST_PAGES):
        try:
            with _reading_payouts(account):
                page = stripe.payouts(since=begin, after=after)
        except ProviderFault as fault:
            if fault.code != PAYOUTS_REFUSED:
                raise
            return
        _record_news(account, page.rows)
        after = page.last
        if not after:
            return


def _begin_of(account: ProviderAccount, since: datetime) -> datetime:
    """Return since when the payouts are asked for that may have news: also those that a bank may still send back."""
    since = min(since, database_now() - SENT_BACK)
    ours = Payout.objects.of(account.workspace)  # also those from before the account was disconnected
    unfinished = ours.filter(UNFINISHED, created_at__lt=since, created_at__gte=since - NEWS)
    oldest = unfinished.order_by("created_at").values_list("created_at", flat=True).first()
    return oldest or since


def _record_news(account: ProviderAccount, rows: list[ProviderPayout]) -> None:
    """Record the payouts of which something is not known yet."""
    stored = Payout.objects.of(account.workspace).filter(provider_id__in=[one.id for one in rows])
    known = {one.provider_id: one for one in stored}
    for told in rows:
        found = known.get(told.id)
        if (
            found is None
            or (found.status, found.arrives_on) != (told.status, told.arrives_on)
            or _is_to_list(found, told)
        ):
            record_payout(account=account, told=told, now=database_now())


@transaction.atomic
def record_payout(*, account: ProviderAccount, told: ProviderPayout, now: datetime) -> Payout:
    """Record a payout, and what has become of it. What is told late changes nothing back."""
    workspace, exponent = account.workspace, decimals_of(told.currency)
    values: dict[str, object] = {
        "account": account,
        "status": told.status,
        "arrives_on": told.arrives_on,
        "failure_code": told.failure_code,
        "failure_message": told.failure_message,
        "changed_at": now,
    }
    fixed: dict[str, object] = {
        "amount": from_provider(told.amount, told.currency, exponent),
        "currency": told.currency,
        "exponent": exponent,
        "automatic": told.automatic,
        "created_at": told.created_at,
    }
    rows = Payout.objects.of(workspace).select_for_update(no_key=True)
    payout, is_new = rows.get_or_create(provider_id=told.id, defaults={"workspace": workspace, **fixed, **values})
    payout.workspace, before = workspace, Status(payout.status)
    if told.status != before and RANKS[Status(told.status)] <= RANKS[before]:
        return payout
    for name, value in values.items():
        setattr(payout, name, value)
    if _is_to_list(payout, told):
        payout.list_at, payout.tries, payout.failure = now, 0, ""
    payout.save(update_fields=[*values, "list_at", "tries", "failure"])
    if told.status == Status.FAILED and (is_new or before != Status.FAILED):
        _report_failure(payout, now)
    return payout


def _is_to_list(payout: Payout, told: ProviderPayout) -> bool:
    is_waiting = payout.list_at is None and payout.listed_at is None
    return told.reconciled and is_waiting and payout.failure not in FOR_GOOD


def _report_failure(payout: Payout, now: datetime) -> None:
    details = {
        "payout": str(payout.uuid),
        "amount": str(from_minor(payout.amount, payout.exponent)),
        "currency": payout.currency,
        "failure": payout.failure_code,
    }
    record_workspace_activity(workspace=payout.workspace, action="payout.failed", by=SYSTEM, details=details)
    if payout.created_at > now - NEWS:
        notify_of_failed_payout(payout, now=now)


# Transactions -------------------------------------------------------------------------------------


def due_payouts(now: TimeOrExpression) -> "QuerySet[Payout]":
    """Return the payouts whose transactions are to be listed, in their order."""
    return Payout.objects.filter(list_at__lte=now).order_by("list_at")


def list_payout_transactions(stripe: Stripe, payout: Payout) -> None:
    """List some more of a payout's transactions. The next piece begins after the last one. Raises `ProviderFault`."""
    known = payout.transactions.count()
    for _page in range(MOST_PAGES):
        try:
            page = stripe.payout_transactions(payout.provider_id, after=payout.listed_to)
        except ProviderFault as fault:
            if fault.code not in {"not_found", "refused", "permission_missing"}:
                raise
            end_listing(payout, failure=fault.code)
            return
        _add_transactions(payout, page.rows, page.last)
        if not page.last:
            _complete(payout)
            return
    _go_on(payout, is_stuck=payout.transactions.count() == known)


@transaction.atomic
def _add_transactions(payout: Payout, rows: list[BalanceTransaction], last: str) -> None:
    """Add transactions to a payout, and remember where the next page begins."""
    accounts = list(ProviderAccount.objects.filter(workspace=payout.workspace_id).values_list("pk", flat=True))
    payments = {one.payment for one in rows if one.payment}
    refunds = {one.refund for one in rows if one.refund}
    found = Payment.objects.filter(account__in=accounts, provider_id__in=payments)
    payment_of = dict(found.values_list("provider_id", "pk"))
    given = Refund.objects.filter(payment__account__in=accounts, provider_id__in=refunds)
    refund_of = {key: (pk, payment) for key, pk, payment in given.values_list("provider_id", "pk", "payment")}
    PayoutTransaction.objects.bulk_create(
        [_row(payout, one, payment_of.get(one.payment), refund_of.get(one.refund)) for one in rows],
        ignore_conflicts=True,
    )
    payout.listed_to = last
    payout.save(update_fields=["listed_to"])


def _row(
    payout: Payout, told: BalanceTransaction, payment: int | None, refund: tuple[int, int] | None
) -> PayoutTransaction:
    refund_id, refunded_payment = refund or (None, None)
    return PayoutTransaction(
        payout=payout,
        provider_id=told.id,
        kind=told.kind,
        provider_kind=told.provider_kind,
        source_id=told.source_id,
        payment_id=payment or refunded_payment,
        refund_id=refund_id,
        description=told.description,
        amount=from_provider(told.amount, payout.currency, payout.exponent),
        fee=from_provider(told.fee, payout.currency, payout.exponent),
        created_at=told.created_at,
    )


def _complete(payout: Payout) -> None:
    """Sum up what the provider kept: the fees of payments, and fees that are transactions of their own."""
    is_fee = Q(kind=PayoutTransaction.Kind.FEE)
    sums = payout.transactions.aggregate(fees=Sum("fee", default=0), own=Sum("amount", filter=is_fee, default=0))
    Payout.objects.filter(pk=payout.pk).update(
        fees=sums["fees"] - sums["own"], listed_at=database_now(), list_at=None, tries=0, failure=""
    )


def _go_on(payout: Payout, *, is_stuck: bool) -> None:
    """Let the next piece be due. A list that goes in circles, or is longer than any, is given up."""
    if is_stuck or payout.transactions.count() >= MOST_TRANSACTIONS:
        end_listing(payout, failure="too_many")
        return
    Payout.objects.filter(pk=payout.pk).update(list_at=database_now(), tries=0, failure="")


def end_listing(payout: Payout, *, failure: str) -> None:
    """List no more of a payout's transactions for now. Those that are known stay."""
    Payout.objects.filter(pk=payout.pk).update(list_at=None, failure=failure[:60])


# On pages -----------------------------------------------------------------------------------------


def expected_payouts(workspace: Workspace, *, today: date) -> list[Payout]:
    """Return the next payouts that have not arrived yet, the first one first."""
    rows = Payout.objects.of(workspace).filter(status__in=[Status.PENDING, Status.IN_TRANSIT])
    return list(rows.filter(arrives_on__gte=today - LATE).order_by("arrives_on", "id")[:MOST_EXPECTED])
