"""Calls Stripe with a workspace's own key, and reads what it answers.

Nobody else imports Stripe's library. Every answer is read field by field, because it comes from outside.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final
from uuid import UUID

from workspaces.finance.providers.faults import ProviderFault
from workspaces.finance.providers.transport import TOO_LONG, BoundedClient, api_address
from workspaces.finance.providers.webhooks import EVENT_LIST, EVENTS, LONGEST_ID, EventPage, read_page

SECONDS: Final = 10.0
# Lists are asked for with fewer rows if an answer is too long to be read.
LIST_LENGTHS: Final = (100, 10, 1)
# In Stripe's smallest unit these currencies have no decimals, and all others that we take have two. A few differ from
# what banks say, such as ISK, whose amounts must end in 00.
WITHOUT_DECIMALS: Final = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"}
)


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
        profile = _mapping(found, "business_profile")
        return AccountDetails(_text(found, "id"), _text(profile, "name")[:200])

    def create_endpoint(self, *, url: str, key: UUID) -> WebhookEndpoint:
        params = {"url": url, "enabled_events": list(EVENTS)}
        found = self._call(lambda client, options: client.v1.webhook_endpoints.create(params, options), key=key)
        return WebhookEndpoint(_text(found, "id", needed=True), _text(found, "secret", needed=True))

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
        return [_refund(one) for one in _rows(found, "data") if isinstance(one, dict)]

    def dispute(self, dispute_id: str) -> ProviderDispute:
        return _dispute(self._call(lambda client, options: client.v1.disputes.retrieve(dispute_id, None, options)))

    def listed(self, name: str, *, since: datetime, after: str = "") -> EventPage:
        """List the events of `EVENTS`, or the objects of `OBJECT_LISTS`, that were made since then, the newest first.

        The list begins after the row `after` if it is given. Up to three calls are made.
        """
        params: dict[str, Any] = {"created": {"gte": int(since.timestamp())}}
        params |= {"types": list(EVENTS)} if name == EVENT_LIST else {}
        params |= {"starting_after": after} if after else {}
        for length in LIST_LENGTHS[:-1]:
            try:
                return self._page(name, {**params, "limit": length})
            except ProviderFault as fault:
                if fault.reason != TOO_LONG:
                    raise
        return self._page(name, {**params, "limit": LIST_LENGTHS[-1]})

    def _page(self, name: str, params: dict[str, Any]) -> EventPage:
        found = self._call(lambda client, options: getattr(client.v1, name).list(params, options))
        return read_page(name, found, most=params["limit"])

    def _call(self, call: Callable[[Any, dict[str, str]], Any], *, key: UUID | None = None) -> Mapping[str, Any]:
        library = load_stripe()
        addresses = {"api": api_address()}
        client = library.StripeClient(self._key, base_addresses=addresses, http_client=BoundedClient(SECONDS))
        try:
            answer = call(client, {"idempotency_key": str(key)} if key else {})
        except library.StripeError as error:
            raise _fault(error) from None  # the error's text and chain quote the request
        found: Mapping[str, Any] = answer.to_dict()
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


def _session_params(wanted: NewSession) -> dict[str, Any]:
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


def _text(found: Mapping[str, Any], name: str, *, needed: bool = False) -> str:
    """Read a text. Raises `ProviderFault` if a needed one is missing or longer than any id."""
    value = found.get(name)
    if isinstance(value, str) and value and len(value) <= LONGEST_ID:
        return value
    if needed:
        raise ProviderFault("unavailable", f"odd {name}")
    return ""


def _amount(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**15:
        raise ProviderFault("unavailable", f"odd {name}")
    return value


def _rows(found: Mapping[str, Any], name: str) -> list[Any]:
    """Read a list, at most its first hundred rows."""
    value = found.get(name)
    return value[:100] if isinstance(value, list) else []


def _mapping(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _id_of(found: Mapping[str, Any], name: str) -> str:
    """Read the id of another object, which Stripe may have put in whole."""
    value = found.get(name)
    return _text(value, "id") if isinstance(value, dict) else _text(found, name)


def _endpoint(found: Mapping[str, Any]) -> EndpointState:
    url, kinds = found.get("url"), _rows(found, "enabled_events")
    return EndpointState(
        url=url if isinstance(url, str) else "",
        is_enabled=found.get("status") != "disabled",
        lacks_events=any(kind not in kinds for kind in EVENTS) and "*" not in kinds,
    )


def _session(found: Mapping[str, Any]) -> Session:
    address = found.get("url")
    return Session(
        id=_text(found, "id", needed=True),
        address=address if isinstance(address, str) and len(address) <= 2_048 else "",
        status=_text(found, "status", needed=True),
        is_paid=found.get("payment_status") == "paid",
        payment=_id_of(found, "payment_intent"),
        reference=_text(found, "client_reference_id"),
    )


def _payment(found: Mapping[str, Any]) -> ReceivedPayment:
    currency = _text(found, "currency", needed=True).upper()
    balance = _mapping(_mapping(found, "latest_charge"), "balance_transaction")
    knows_fee = _text(balance, "currency").upper() == currency
    return ReceivedPayment(
        id=_text(found, "id", needed=True),
        status=_text(found, "status", needed=True),
        amount=_amount(found, "amount_received"),
        currency=currency,
        fee=_amount(balance, "fee") if knows_fee else None,
        reference=_text(_mapping(found, "metadata"), "checkout"),
    )


def _refund(found: Mapping[str, Any]) -> ProviderRefund:
    status = _text(found, "status", needed=True)
    ended = {"succeeded": "succeeded", "failed": "failed", "canceled": "failed"}
    return ProviderRefund(
        id=_text(found, "id", needed=True),
        payment=_id_of(found, "payment_intent"),
        status=ended.get(status, "pending"),
        amount=_amount(found, "amount"),
        currency=_text(found, "currency", needed=True).upper(),
        reference=_text(_mapping(found, "metadata"), "refund"),
    )


def _dispute(found: Mapping[str, Any]) -> ProviderDispute:
    amounts = [one.get("amount") for one in _rows(found, "balance_transactions") if isinstance(one, dict)]
    return ProviderDispute(
        id=_text(found, "id", needed=True),
        payment=_id_of(found, "payment_intent"),
        status=_text(found, "status")[:40],
        reason=_text(found, "reason")[:60],
        amount=_amount(found, "amount"),
        currency=_text(found, "currency", needed=True).upper(),
        withdrawn=sum(amount for amount in amounts if isinstance(amount, int)) < 0,
    )
