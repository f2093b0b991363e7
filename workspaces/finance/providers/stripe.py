"""Calls Stripe with a workspace's own key, and reads what it answers.

Nobody else imports Stripe's library. Every answer is read field by field, because it comes from outside.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final
from uuid import UUID

from workspaces.finance.providers.answers import read_amount, read_id, read_mapping, read_rows, read_text
from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.payouts import (
    PAYOUTS_AT_ONCE,
    TRANSACTIONS_AT_ONCE,
    BalanceTransaction,
    Page,
    ProviderPayout,
    read_payout,
    read_payouts,
    read_transactions,
)
from workspaces.finance.providers.transport import TOO_LONG, BoundedClient, api_address
from workspaces.finance.providers.webhooks import EVENT_LIST, EVENTS, EventPage, read_page

SECONDS: Final = 10.0
# Lists are asked for with fewer rows if an answer is too long to be read.
LIST_LENGTHS: Final = (100, 10, 1)
# In Stripe's smallest unit these currencies have no decimals, some have three, and all others have two. A few differ
# from what banks say, such as ISK, whose amounts must end in 00.
WITHOUT_DECIMALS: Final = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"}
)
WITH_THREE_DECIMALS: Final = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


def load_stripe() -> Any:
    """Import Stripe's library when it is first needed. It takes 0.12 s and 20 MB, and few processes call Stripe."""
    library: Any = import_module("stripe")
    library.enable_telemetry = False
    return library


def to_provider(amount: int, currency: str, exponent: int) -> int:
    """Give an amount in Stripe's smallest unit. Raises `ProviderFault` if Stripe cannot express it."""
    scaled, rest = divmod(amount * _units(_decimals(currency)), _units(exponent))
    if rest:
        raise ProviderFault("refused", "fraction")
    return scaled


def from_provider(amount: int, currency: str, exponent: int) -> int:
    """Give Stripe's amount in minor units with this many decimals, rounded down."""
    return amount * _units(exponent) // _units(_decimals(currency))


def _units(decimals: int) -> int:
    return int("1" + "0" * decimals)


def _decimals(currency: str) -> int:
    if currency.upper() in WITH_THREE_DECIMALS:
        return 3
    return 0 if currency.upper() in WITHOUT_DECIMALS else 2


@dataclass(frozen=True, slots=True)
class AccountDetails:
    """Both are empty if the key may not read them."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    id: str
    secret: str


@dataclass(frozen=True, slots=True)
class EndpointState:
    """Where an endpoint posts to, and whether it is enabled and lacks a kind of `EVENTS`."""

    url: str
    is_enabled: bool
    lacks_events: bool


@dataclass(frozen=True, slots=True)
class Session:
    """A checkout session. `reference` is our checkout's uuid; `payment` is empty until something was paid."""

    id: str
    address: str
    status: str
    is_paid: bool
    payment: str
    reference: str


@dataclass(frozen=True, slots=True)
class ReceivedPayment:
    """A payment. The amounts are in Stripe's smallest unit. `fee` is None if Stripe does not say it in `currency`."""

    id: str
    status: str
    amount: int
    currency: str
    fee: int | None
    reference: str

    @property
    def has_succeeded(self) -> bool:
        return self.status == "succeeded" and self.amount > 0

    @property
    def has_failed(self) -> bool:
        return self.status in {"requires_payment_method", "canceled"}


@dataclass(frozen=True, slots=True)
class ProviderRefund:
    """A refund. `status` is pending, succeeded or failed; `reference` is our refund's uuid, if we asked for it."""

    id: str
    payment: str
    status: str
    amount: int
    currency: str
    reference: str


@dataclass(frozen=True, slots=True)
class ProviderDispute:
    """A dispute. `withdrawn` says that Stripe has taken more back than it has returned."""

    id: str
    payment: str
    status: str
    reason: str
    amount: int
    currency: str
    withdrawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """What a session is made of. The same values under the same key give the same session."""

    key: UUID
    title: str
    amount: int
    currency: str
    invoice: UUID
    success_url: str
    cancel_url: str
    expires_at: datetime
    language: str = ""


class Stripe:
    """Stripe with one key. Each call takes at most ten seconds, repeated tries included, and raises `ProviderFault`."""

    def __init__(self, key: str) -> None:
        self._key = key

    def account(self) -> AccountDetails:
        """Read the account. A key that may not read it is good enough, so nothing is raised for that."""
        try:
            found = self._call(lambda client, options: client.v1.accounts.retrieve_current(options=options))
        except ProviderFault as fault:
            if fault.code != "permission_missing":
                raise
            return AccountDetails("", "")
        profile = read_mapping(found, "business_profile")
        return AccountDetails(read_text(found, "id"), read_text(profile, "name")[:200])

    def create_endpoint(self, *, url: str, key: UUID) -> WebhookEndpoint:
        params = {"url": url, "enabled_events": list(EVENTS)}
        found = self._call(lambda client, options: client.v1.webhook_endpoints.create(params, options), key=key)
        return WebhookEndpoint(read_text(found, "id", needed=True), read_text(found, "secret", needed=True))

    def endpoint(self, endpoint_id: str) -> EndpointState | None:
        """Read an endpoint; None if the key's account has none with this id."""
        try:
            found = self._call(
                lambda client, options: client.v1.webhook_endpoints.retrieve(endpoint_id, options=options)
            )
        except ProviderFault as fault:
            if fault.code != "not_found":
                raise
            return None
        return _endpoint(found)

    def update_endpoint(self, endpoint_id: str, *, url: str) -> None:
        """Let an endpoint post all events of `EVENTS` to this address."""
        params = {"url": url, "enabled_events": list(EVENTS)}
        self._call(lambda client, options: client.v1.webhook_endpoints.update(endpoint_id, params, options))

    def delete_endpoint(self, endpoint_id: str) -> None:
        self._call(lambda client, options: client.v1.webhook_endpoints.delete(endpoint_id, options=options))

    def start_session(self, wanted: NewSession) -> Session:
        params = _session_params(wanted)
        found = self._call(lambda client, options: client.v1.checkout.sessions.create(params, options), key=wanted.key)
        return _session(found)

    def session(self, session_id: str) -> Session:
        return _session(
            self._call(lambda client, options: client.v1.checkout.sessions.retrieve(session_id, None, options))
        )

    def expire_session(self, session_id: str) -> Session:
        """End a session, so that nobody can pay. Raises `refused` if it is not open."""
        return _session(
            self._call(lambda client, options: client.v1.checkout.sessions.expire(session_id, None, options))
        )

    def payment(self, payment_id: str) -> ReceivedPayment:
        expand = {"expand": ["latest_charge.balance_transaction"]}
        found = self._call(lambda client, options: client.v1.payment_intents.retrieve(payment_id, expand, options))
        return _payment(found)

    def refund(self, *, payment: str, amount: int, key: UUID) -> ProviderRefund:
        params = {"payment_intent": payment, "amount": amount, "metadata": {"refund": str(key)}}
        return _refund(self._call(lambda client, options: client.v1.refunds.create(params, options), key=key))

    def read_refund(self, refund_id: str) -> ProviderRefund:
        return _refund(self._call(lambda client, options: client.v1.refunds.retrieve(refund_id, None, options)))

    def refunds_of(self, payment: str) -> list[ProviderRefund]:
        """Read the latest hundred refunds of a payment."""
        params = {"payment_intent": payment, "limit": 100}
        found = self._call(lambda client, options: client.v1.refunds.list(params, options))
        return [_refund(one) for one in read_rows(found, 100)]

    def dispute(self, dispute_id: str) -> ProviderDispute:
        return _dispute(self._call(lambda client, options: client.v1.disputes.retrieve(dispute_id, None, options)))

    def listed(self, name: str, *, since: datetime, after: str = "") -> EventPage:
        """List the events of `EVENTS`, or the objects of `OBJECT_LISTS`, that were made since then, the newest first.

        The list begins after the row `after` if it is given. Up to three calls are made.
        """
        params: dict[str, object] = {"created": {"gte": int(since.timestamp())}, **_beginning(after)}
        params |= {"types": list(EVENTS)} if name == EVENT_LIST else {}
        for length in LIST_LENGTHS[:-1]:
            try:
                return self._page(name, params, length)
            except ProviderFault as fault:
                if fault.reason != TOO_LONG:
                    raise
        return self._page(name, params, LIST_LENGTHS[-1])

    def _page(self, name: str, params: Mapping[str, object], length: int) -> EventPage:
        limited = {**params, "limit": length}
        found = self._call(lambda client, options: getattr(client.v1, name).list(limited, options))
        return read_page(name, found, most=length)

    def payout(self, payout_id: str) -> ProviderPayout:
        return read_payout(self._call(lambda client, options: client.v1.payouts.retrieve(payout_id, None, options)))

    def payouts(self, *, since: datetime, after: str = "") -> Page[ProviderPayout]:
        """List payouts that were made since then, the last one first, beginning after one of them."""
        params = {"created": {"gte": int(since.timestamp())}, "limit": PAYOUTS_AT_ONCE, **_beginning(after)}
        return read_payouts(self._call(lambda client, options: client.v1.payouts.list(params, options)))

    def payout_transactions(self, payout_id: str, *, after: str = "") -> Page[BalanceTransaction]:
        """List what an automatic payout consists of. A key that may not read all their sources gets less of them."""
        params = {"payout": payout_id, "limit": TRANSACTIONS_AT_ONCE, **_beginning(after)}
        try:
            found = self._list_transactions({**params, "expand": ["data.source"]})
        except ProviderFault as fault:
            if fault.code != "permission_missing":
                raise
            found = self._list_transactions(params)
        return read_transactions(found, payout_id)

    def _list_transactions(self, params: Mapping[str, object]) -> Mapping[str, object]:
        return self._call(lambda client, options: client.v1.balance_transactions.list(params, options))

    def _call(self, call: Callable[[Any, dict[str, str]], Any], *, key: UUID | None = None) -> Mapping[str, object]:
        library = load_stripe()
        addresses = {"api": api_address()}
        client = library.StripeClient(self._key, base_addresses=addresses, http_client=BoundedClient(SECONDS))
        try:
            answer = call(client, {"idempotency_key": str(key)} if key else {})
        except library.StripeError as error:
            raise _fault(error) from None  # the error's text and chain quote the request
        found: Mapping[str, object] = answer.to_dict()
        return found


def _fault(error: Any) -> ProviderFault:
    status, reason = error.http_status, str(error.code or "")
    codes = {401: "key_refused", 403: "permission_missing", 404: "not_found", 429: "rate_limited"}
    if reason in {"rate_limit", "lock_timeout"}:
        return ProviderFault("rate_limited", reason)
    if status in codes:
        return ProviderFault(codes[status], reason)
    is_refusal = status is not None and 400 <= status < 500 and status != 409
    return ProviderFault("refused" if is_refusal else "unavailable", reason)


def _beginning(after: str) -> dict[str, str]:
    return {"starting_after": after} if after else {}


def _session_params(wanted: NewSession) -> dict[str, object]:
    ours = {"checkout": str(wanted.key), "invoice": str(wanted.invoice)}
    product = {"name": wanted.title}
    price = {"currency": wanted.currency.lower(), "unit_amount": wanted.amount, "product_data": product}
    return {
        "mode": "payment",
        "line_items": [{"quantity": 1, "price_data": price}],
        # In the payer's own currency Stripe would charge another amount than the invoice's.
        "adaptive_pricing": {"enabled": False},
        "client_reference_id": str(wanted.key),
        "metadata": ours,
        "payment_intent_data": {"metadata": ours, "description": wanted.title},
        "success_url": wanted.success_url,
        "cancel_url": wanted.cancel_url,
        "expires_at": int(wanted.expires_at.astimezone(UTC).timestamp()),
        "locale": wanted.language or "auto",
    }


# Reading answers ----------------------------------------------------------------------------------


def _endpoint(found: Mapping[str, object]) -> EndpointState:
    url, kinds = found.get("url"), found.get("enabled_events")
    enabled = kinds[:100] if isinstance(kinds, list) else []
    return EndpointState(
        url=url if isinstance(url, str) else "",
        is_enabled=found.get("status") != "disabled",
        lacks_events=any(kind not in enabled for kind in EVENTS) and "*" not in enabled,
    )


def _session(found: Mapping[str, object]) -> Session:
    address = found.get("url")
    return Session(
        id=read_text(found, "id", needed=True),
        address=address if isinstance(address, str) and len(address) <= 2_048 else "",
        status=read_text(found, "status", needed=True),
        is_paid=found.get("payment_status") == "paid",
        payment=read_id(found, "payment_intent"),
        reference=read_text(found, "client_reference_id"),
    )


def _payment(found: Mapping[str, object]) -> ReceivedPayment:
    currency = read_text(found, "currency", needed=True).upper()
    balance = read_mapping(read_mapping(found, "latest_charge"), "balance_transaction")
    knows_fee = read_text(balance, "currency").upper() == currency
    return ReceivedPayment(
        id=read_text(found, "id", needed=True),
        status=read_text(found, "status", needed=True),
        amount=read_amount(found, "amount_received"),
        currency=currency,
        fee=read_amount(balance, "fee") if knows_fee else None,
        reference=read_text(read_mapping(found, "metadata"), "checkout"),
    )


def _refund(found: Mapping[str, object]) -> ProviderRefund:
    status = read_text(found, "status", needed=True)
    ended = {"succeeded": "succeeded", "failed": "failed", "canceled": "failed"}
    return ProviderRefund(
        id=read_text(found, "id", needed=True),
        payment=read_id(found, "payment_intent"),
        status=ended.get(status, "pending"),
        amount=read_amount(found, "amount"),
        currency=read_text(found, "currency", needed=True).upper(),
        reference=read_text(read_mapping(found, "metadata"), "refund"),
    )


def _dispute(found: Mapping[str, object]) -> ProviderDispute:
    moved = found.get("balance_transactions")
    amounts = [one.get("amount") for one in moved[:100] if isinstance(one, dict)] if isinstance(moved, list) else []
    return ProviderDispute(
        id=read_text(found, "id", needed=True),
        payment=read_id(found, "payment_intent"),
        status=read_text(found, "status")[:40],
        reason=read_text(found, "reason")[:60],
        amount=read_amount(found, "amount"),
        currency=read_text(found, "currency", needed=True).upper(),
        withdrawn=sum(amount for amount in amounts if isinstance(amount, int)) < 0,
    )
