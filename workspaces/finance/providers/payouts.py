"""Payouts and their transactions, as Stripe answers with them. The amounts are in Stripe's smallest unit."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Generic, TypeVar

from workspaces.finance.providers.answers import (
    LARGEST_AMOUNT,
    read_amount,
    read_id,
    read_mapping,
    read_rows,
    read_text,
    read_time,
    read_truncated,
)
from workspaces.finance.providers.faults import ProviderFault

PAYOUTS_AT_ONCE: Final = 100
# Each comes with the whole charge that it is about, and an answer is bounded.
TRANSACTIONS_AT_ONCE: Final = 50
STATUSES: Final = frozenset({"pending", "in_transit", "paid", "failed", "canceled"})
KINDS: Final = {
    "charge": "payment",
    "payment": "payment",
    "refund": "refund",
    "payment_refund": "refund",
    "refund_failure": "refund",
    "payment_failure_refund": "refund",
    "payment_reversal": "refund",
    "stripe_fee": "fee",
    "stripe_fx_fee": "fee",
    "tax_fee": "fee",
}
OF_DISPUTES: Final = frozenset({"dispute", "dispute_reversal"})
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows of a list. `last` is the id to go on from, empty if there are no more."""

    rows: list[Row]
    last: str


@dataclass(frozen=True, slots=True)
class ProviderPayout:
    """A payout. Its transactions can be listed once it is `reconciled`, and only if it is `automatic`."""

    id: str
    status: str
    amount: int
    currency: str
    arrives_on: date
    automatic: bool
    reconciled: bool
    failure_code: str
    failure_message: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BalanceTransaction:
    """What changed the account's balance. `payment` and `refund` are Stripe's ids, if it is about one of them.

    Only one without a source has a `description`: those of payments are other people's words.
    """

    id: str
    kind: str
    provider_kind: str
    source_id: str
    payment: str
    refund: str
    description: str
    amount: int
    fee: int
    created_at: datetime


def read_payout(found: Mapping[str, object]) -> ProviderPayout:
    """Read a payout. Raises `ProviderFault` for one of an unknown status."""
    status = read_text(found, "status", needed=True)
    currency = read_text(found, "currency", needed=True).upper()
    if status not in STATUSES or len(currency) != 3:
        raise ProviderFault("unavailable", "odd payout")
    automatic = found.get("automatic") is True
    return ProviderPayout(
        id=read_text(found, "id", needed=True),
        status=status,
        amount=read_amount(found, "amount", least=-LARGEST_AMOUNT),
        currency=currency,
        arrives_on=read_time(found, "arrival_date").date(),
        automatic=automatic,
        reconciled=automatic and found.get("reconciliation_status") == "completed",
        failure_code=read_truncated(found, "failure_code", 60),
        failure_message=read_truncated(found, "failure_message", 500),
        created_at=read_time(found, "created"),
    )


def read_payouts(found: Mapping[str, object]) -> Page[ProviderPayout]:
    rows = [read_payout(one) for one in read_rows(found, PAYOUTS_AT_ONCE)]
    return Page(rows, rows[-1].id if rows and found.get("has_more") is True else "")


def read_transactions(found: Mapping[str, object], payout_id: str) -> Page[BalanceTransaction]:
    """Read what a payout consists of, without the row that is the payout itself."""
    rows = [_transaction(one) for one in read_rows(found, TRANSACTIONS_AT_ONCE)]
    last = rows[-1].id if rows and found.get("has_more") is True else ""
    return Page([one for one in rows if one.source_id != payout_id], last)


def _transaction(found: Mapping[str, object]) -> BalanceTransaction:
    kind, source_id = read_text(found, "type", needed=True), read_id(found, "source")
    source = read_mapping(found, "source")
    is_refund = source.get("object") == "refund" or source_id.startswith("re_")
    own = "dispute" if found.get("reporting_category") in OF_DISPUTES else KINDS.get(kind, "other")
    return BalanceTransaction(
        id=read_text(found, "id", needed=True),
        kind=own,
        provider_kind=kind[:60],
        source_id=source_id,
        payment=read_id(source, "payment_intent"),
        refund=source_id if is_refund else "",
        description="" if source_id else read_truncated(found, "description", 200),
        amount=read_amount(found, "amount", least=-LARGEST_AMOUNT),
        fee=read_amount(found, "fee", least=-LARGEST_AMOUNT),
        created_at=read_time(found, "created"),
    )
