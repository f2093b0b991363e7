"""The calls of Stripe's API that the stand-in knows, as functions of an account and the parameters."""

import re
import time
from collections.abc import Callable
from typing import Any, Final

from tools.sandbox.stripe.state import (
    LONGEST_SECONDS,
    SHORTEST_SECONDS,
    Account,
    Object,
    Refused,
    StripeState,
    invalid,
    missing,
    new_id,
)

Params = dict[str, Any]
Call = Callable[[StripeState, Account, Params], Object]
# What Stripe takes and keeps of lists of events.
MOST_KINDS: Final = 20
LONGEST_PAGE: Final = 100
KEPT_SECONDS: Final = 30 * 24 * 3600
REDIRECTS: Final = ("success_url", "cancel_url")
FOREIGN_CURRENCY: Final = "isk"


def read_account(state: StripeState, account: Account, params: Params) -> Object:
    profile = {"name": account.name}
    return {"id": account.id, "object": "account", "business_profile": profile, "settings": {"dashboard": {}}}


def create_endpoint(state: StripeState, account: Account, params: Params) -> Object:
    url, kinds = params.get("url", ""), params.get("enabled_events")
    if not url.startswith(("https://", "http://")) or not kinds:
        raise invalid("Invalid URL or events", "url")
    made = {
        "id": new_id("we"),
        "object": "webhook_endpoint",
        "url": url,
        "enabled_events": kinds,
        "secret": new_id("whsec"),
        "status": "enabled",
        "livemode": account.live,
    }
    account.endpoints[made["id"]] = made
    return made


def read_endpoint(state: StripeState, account: Account, params: Params) -> Object:
    found = _find(account.endpoints, "webhook endpoint", params)
    return {name: value for name, value in found.items() if name != "secret"}


def update_endpoint(state: StripeState, account: Account, params: Params) -> Object:
    found = _find(account.endpoints, "webhook endpoint", params)
    found.update({name: params[name] for name in ("url", "enabled_events") if params.get(name)})
    if "disabled" in params:
        found["status"] = "disabled" if params["disabled"] == "true" else "enabled"
    return read_endpoint(state, account, params)


def delete_endpoint(state: StripeState, account: Account, params: Params) -> Object:
    found = _find(account.endpoints, "webhook endpoint", params)
    del account.endpoints[found["id"]]
    return {"id": found["id"], "object": "webhook_endpoint", "deleted": True}


# Events -------------------------------------------------------------------------------------------


def list_events(state: StripeState, account: Account, params: Params) -> Object:
    """List events of the last thirty days, the newest first."""
    kinds, since = params.get("types") or [], int(time.time()) - KEPT_SECONDS
    if len(kinds) > MOST_KINDS:
        raise invalid("Too many types.", "types")
    rows = [one for one in account.events.values() if one["created"] >= since]
    return _list("events", [one for one in rows if not kinds or one["type"] in kinds], params)


def _list(name: str, rows: list[Object], params: Params) -> Object:
    """Give a page of a list, the newest row first. `rows` are in the order of time."""
    length, since = int(params.get("limit", 10)), int((params.get("created") or {}).get("gte", 0))
    if not 1 <= length <= LONGEST_PAGE:
        raise invalid("The limit is not between 1 and 100.", "limit")
    found = [one for one in reversed(rows) if one["created"] >= since]
    ids, after = [one["id"] for one in found], params.get("starting_after")
    if after and after not in ids:
        raise invalid(f"No such object: '{after}'", "starting_after", "resource_missing")
    begin = ids.index(after) + 1 if after else 0
    more = begin + length < len(found)
    return {"object": "list", "data": found[begin : begin + length], "has_more": more, "url": f"/v1/{name}"}


# Checkout sessions --------------------------------------------------------------------------------


def create_session(state: StripeState, account: Account, params: Params) -> Object:
    items = params.get("line_items") or []
    if params.get("mode") != "payment" or not items or any(not params.get(name) for name in REDIRECTS):
        raise invalid("Missing required param.", "line_items")
    amounts = [(int(item["price_data"]["unit_amount"]), int(item["quantity"])) for item in items]
    total, currency = sum(amount * number for amount, number in amounts), items[0]["price_data"]["currency"]
    if total < 50:
        raise invalid("The Checkout Session's total amount must convert to at least 50 cents.", code="amount_too_small")
    ends_at, now = int(params.get("expires_at") or time.time() + 24 * 3600), time.time()
    if not now + SHORTEST_SECONDS <= ends_at <= now + LONGEST_SECONDS:
        raise invalid("The `expires_at` timestamp must be between 30 minutes and 24 hours from now.", "expires_at")
    key = new_id("cs_live" if account.live else "cs_test")
    made = {
        "id": key,
        "object": "checkout.session",
        "url": f"{state.own_url}/c/pay/{account.id}/{key}",
        "status": "open",
        "payment_status": "unpaid",
        "payment_intent": None,
        "amount_total": total,
        "currency": currency,
        "expires_at": ends_at,
        "client_reference_id": params.get("client_reference_id"),
        "metadata": params.get("metadata") or {},
        "success_url": params["success_url"],
        "cancel_url": params["cancel_url"],
        "livemode": account.live,
        "_title": items[0]["price_data"]["product_data"]["name"],
        "_intent": (params.get("payment_intent_data") or {}).get("metadata") or {},
        "_adaptive": (params.get("adaptive_pricing") or {}).get("enabled") != "false",
    }
    account.sessions[key] = made
    return shown(made)


def shown(found: Object) -> Object:
    """Leave out what only the stand-in knows."""
    return {name: value for name, value in found.items() if not name.startswith("_")}


def expire_if_late(state: StripeState, account: Account, session: Object) -> None:
    if session["status"] == "open" and session["expires_at"] <= time.time():
        _expire(state, account, session)


def _expire(state: StripeState, account: Account, session: Object) -> None:
    session["status"] = "expired"
    state.record(account, "checkout.session.expired", shown(session))


def read_session(state: StripeState, account: Account, params: Params) -> Object:
    found = _find(account.sessions, "checkout.session", params)
    expire_if_late(state, account, found)
    return shown(found)


def expire_session(state: StripeState, account: Account, params: Params) -> Object:
    found = _find(account.sessions, "checkout.session", params)
    if found["status"] != "open":
        raise invalid('Only Checkout Sessions with a status in ["open"] can be expired.')
    _expire(state, account, found)
    return shown(found)


def pay(state: StripeState, account: Account, session: Object, how: str) -> None:
    """Pay as a person on the page: `pay`, `delay` for a bank debit that is on its way, or `decline`.

    The person is abroad and pays in the currency of that country, unless the session refuses adaptive pricing.
    """
    if session["status"] != "open":
        raise invalid("This Checkout Session is not open.")
    if how == "decline":
        return
    intent = {
        "id": new_id("pi"),
        "object": "payment_intent",
        "amount": session["amount_total"],
        "amount_received": 0,
        "currency": FOREIGN_CURRENCY if session["_adaptive"] else session["currency"],
        "status": "processing",
        "metadata": session["_intent"],
        "latest_charge": None,
        "created": int(time.time()),
    }
    account.intents[intent["id"]] = intent
    session.update(status="complete", payment_intent=intent["id"])
    if how == "pay":
        _receive(session, intent)
    state.record(account, "checkout.session.completed", shown(session))


def _receive(session: Object, intent: Object) -> None:
    fee = 25 + intent["amount"] * 15 // 1000
    balance = {"object": "balance_transaction", "fee": fee, "currency": intent["currency"]}
    charge = {"id": new_id("ch"), "object": "charge", "balance_transaction": balance, "created": int(time.time())}
    intent.update(status="succeeded", amount_received=intent["amount"], latest_charge=charge)
    session["payment_status"] = "paid"


def settle(state: StripeState, account: Account, session: Object, *, succeeds: bool) -> None:
    """End a bank debit that was on its way."""
    intent = account.intents[session["payment_intent"]]
    if intent["status"] != "processing":
        raise invalid("This payment is not being processed.")
    if succeeds:
        _receive(session, intent)
    else:
        intent["status"] = "requires_payment_method"
    kind = "async_payment_succeeded" if succeeds else "async_payment_failed"
    state.record(account, f"checkout.session.{kind}", shown(session))


def read_intent(state: StripeState, account: Account, params: Params) -> Object:
    return _find(account.intents, "payment_intent", params)


# Refunds and disputes -----------------------------------------------------------------------------


def create_refund(state: StripeState, account: Account, params: Params) -> Object:
    intent = _find(account.intents, "payment_intent", {"id": params.get("payment_intent", "")})
    amount = int(params.get("amount") or intent["amount_received"])
    left = intent["amount_received"] - sum(one["amount"] for one in _counted_refunds(account, intent["id"]))
    if intent["status"] != "succeeded" or amount > left:
        raise invalid("Refund amount is greater than unrefunded amount on charge", code="charge_already_refunded")
    made = {
        "id": new_id("re"),
        "object": "refund",
        "payment_intent": intent["id"],
        "amount": amount,
        "currency": intent["currency"],
        "status": params.get("_status", "succeeded"),
        "metadata": params.get("metadata") or {},
        "created": int(time.time()),
    }
    account.refunds[made["id"]] = made
    state.record(account, "refund.created", made)
    return made


def _counted_refunds(account: Account, intent: str) -> list[Object]:
    of_intent = [one for one in account.refunds.values() if one["payment_intent"] == intent]
    return [one for one in of_intent if one["status"] not in {"failed", "canceled"}]


def change_refund(state: StripeState, account: Account, refund: Object, status: str) -> None:
    refund["status"] = status
    state.record(account, "refund.failed" if status == "failed" else "refund.updated", refund)


def read_refund(state: StripeState, account: Account, params: Params) -> Object:
    return _find(account.refunds, "refund", params)


def list_refunds(state: StripeState, account: Account, params: Params) -> Object:
    intent = params.get("payment_intent")
    rows = [one for one in account.refunds.values() if intent in {None, one["payment_intent"]}]
    return _list("refunds", rows, params)


def open_dispute(state: StripeState, account: Account, intent: str, amount: int | None) -> Object:
    """Contest a payment as the payer's bank does: Stripe takes the amount back at once."""
    found = _find(account.intents, "payment_intent", {"id": intent})
    amount = amount or found["amount_received"]
    made = {
        "id": new_id("dp"),
        "object": "dispute",
        "payment_intent": intent,
        "amount": amount,
        "currency": found["currency"],
        "status": "needs_response",
        "reason": "fraudulent",
        "balance_transactions": [{"object": "balance_transaction", "amount": -amount}],
        "created": int(time.time()),
    }
    account.disputes[made["id"]] = made
    state.record(account, "charge.dispute.created", made)
    state.record(account, "charge.dispute.funds_withdrawn", made)
    return made


def close_dispute(state: StripeState, account: Account, dispute: Object, *, won: bool) -> None:
    dispute["status"] = "won" if won else "lost"
    if won:
        back = {"object": "balance_transaction", "amount": dispute["amount"]}
        dispute["balance_transactions"] = [*dispute["balance_transactions"], back]
        state.record(account, "charge.dispute.funds_reinstated", dispute)
    state.record(account, "charge.dispute.closed", dispute)


def read_dispute(state: StripeState, account: Account, params: Params) -> Object:
    return _find(account.disputes, "dispute", params)


def list_disputes(state: StripeState, account: Account, params: Params) -> Object:
    return _list("disputes", list(account.disputes.values()), params)


def _find(rows: dict[str, Object], what: str, params: Params) -> Object:
    key = str(params.get("id", ""))
    if key not in rows:
        raise missing(what, key)
    return rows[key]


# The table of calls -------------------------------------------------------------------------------

ID: Final = r"([\w]+)"
# The method, the path, the name of the call (for faults, permissions and the ledger), and the function.
CALLS: Final[tuple[tuple[str, str, str, Call], ...]] = (
    ("GET", "account", "account", read_account),
    ("POST", "webhook_endpoints", "create_endpoint", create_endpoint),
    ("GET", f"webhook_endpoints/{ID}", "read_endpoint", read_endpoint),
    ("POST", f"webhook_endpoints/{ID}", "update_endpoint", update_endpoint),
    ("DELETE", f"webhook_endpoints/{ID}", "delete_endpoint", delete_endpoint),
    ("POST", "checkout/sessions", "create_session", create_session),
    ("GET", f"checkout/sessions/{ID}", "read_session", read_session),
    ("POST", f"checkout/sessions/{ID}/expire", "expire_session", expire_session),
    ("GET", f"payment_intents/{ID}", "read_intent", read_intent),
    ("POST", "refunds", "create_refund", create_refund),
    ("GET", "refunds", "list_refunds", list_refunds),
    ("GET", f"refunds/{ID}", "read_refund", read_refund),
    ("GET", "disputes", "list_disputes", list_disputes),
    ("GET", f"disputes/{ID}", "read_dispute", read_dispute),
    ("GET", "events", "list_events", list_events),
)


def find_call(method: str, path: str) -> tuple[str, Call, Params]:
    """Give the call's name, its function, and the id that the path holds. Raises `Refused`."""
    for verb, pattern, name, function in CALLS:
        found = re.fullmatch(f"/v1/{pattern}", path)
        if found and verb == method:
            return name, function, {"id": found[1]} if found.groups() else {}
    raise Refused(404, "invalid_request_error", f"Unrecognized request URL ({method}: {path}).")
