"""The balance of an account at the stand-in for Stripe, and the payouts that bundle what has changed it."""

import time
from typing import Any, Final

from tools.sandbox.stripe.state import Account, Object, StripeState, find, invalid, new_id, shown

DAY: Final = 24 * 3600
MOST_LISTED: Final = 100
# The next payout takes the amount along that could not be paid.
RETURNED: Final = {"failed": "payout_failure", "canceled": "payout_cancel"}
FAILURE: Final = {"failure_code": "account_closed", "failure_message": "The bank account has been closed."}


def add_to_balance(
    account: Account, kind: str, amount: int, currency: str, *, fee: int = 0, source: Any = None, category: str = ""
) -> Object:
    """Change the account's balance. The next automatic payout takes the amount along."""
    made = {
        "id": new_id("txn"),
        "object": "balance_transaction",
        "type": kind,
        "reporting_category": category or kind,
        "amount": amount,
        "fee": fee,
        "net": amount - fee,
        "currency": currency,
        "description": "Billing - usage fee" if source is None else "Somebody's words",
        "created": int(time.time()),
        "_source": source,
        "_payout": None,
    }
    account.balance[made["id"]] = made
    return made


def charge_fee(account: Account, amount: int) -> None:
    """Keep a fee that belongs to no payment, in the currency of what has arrived last."""
    currency = next(reversed(account.balance.values()))["currency"] if account.balance else "usd"
    add_to_balance(account, "stripe_fee", -amount, currency)


def create(state: StripeState, account: Account, amount: int | None, days: int) -> Object:
    """Pay out everything that has arrived, or by hand an amount, whose transactions nobody can tell."""
    bundled = [one for one in account.balance.values() if one["_payout"] is None and one["type"] != "payout"]
    if amount is None and not bundled:
        raise invalid("There is nothing to pay out.", code="balance_insufficient")
    currency = bundled[0]["currency"] if bundled else "usd"
    own = [one for one in bundled if one["currency"] == currency] if amount is None else []
    made: Object = {
        "id": new_id("po"),
        "object": "payout",
        "amount": sum(one["net"] for one in own) if amount is None else amount,
        "currency": currency,
        "status": "pending",
        "automatic": amount is None,
        "arrival_date": (int(time.time()) // DAY + days) * DAY,
        "reconciliation_status": "in_progress" if amount is None else "not_applicable",
        "failure_code": None,
        "failure_message": None,
        "created": int(time.time()),
    }
    account.payouts[made["id"]] = made
    for one in own:
        one["_payout"] = made["id"]
    itself = add_to_balance(account, "payout", -made["amount"], currency, source=made)
    itself["_payout"] = made["id"] if amount is None else ""
    state.record(account, "payout.created", made)
    return made


def change(state: StripeState, account: Account, payout: Object, status: str) -> None:
    """Let a payout go on. Stripe says that it is `reconciled` in an event of its own."""
    if status == "reconciled":
        payout["reconciliation_status"] = "completed"
        state.record(account, "payout.reconciliation_completed", payout)
        return
    payout.update(status=status, **(FAILURE if status == "failed" else {}))
    if status in RETURNED:
        add_to_balance(account, RETURNED[status], payout["amount"], payout["currency"], source=payout)
    kind = {"in_transit": "payout.updated"}.get(status, f"payout.{status}")
    state.record(account, kind, payout)


def read_payout(state: StripeState, account: Account, params: Object) -> Object:
    return shown(find(account.payouts, "payout", params))


def list_payouts(state: StripeState, account: Account, params: Object) -> Object:
    since = int(params.get("created", {}).get("gte", 0))
    rows = [one for one in reversed(account.payouts.values()) if one["created"] >= since]
    return _page([shown(one) for one in rows], params, "/v1/payouts")


def list_balance_transactions(state: StripeState, account: Account, params: Object) -> Object:
    """List what a payout consists of, itself too. Stripe knows that only of payouts that it makes by itself."""
    payout = find(account.payouts, "payout", {"id": params.get("payout", "")})
    if not payout["automatic"]:
        raise invalid("Balance transaction history can only be filtered on automatic transfers, not manual.", "payout")
    whole = "data.source" in (params.get("expand") or [])
    rows = [one for one in reversed(account.balance.values()) if one["_payout"] == payout["id"]]
    return _page([_with_source(one, whole=whole) for one in rows], params, "/v1/balance_transactions")


def _with_source(found: Object, *, whole: bool) -> Object:
    source = found["_source"]
    return {**shown(found), "source": source if whole or source is None else source["id"]}


def _page(rows: list[Object], params: Object, url: str) -> Object:
    ids = [one["id"] for one in rows]
    after = params.get("starting_after", "")
    if after and after not in ids:
        raise invalid(f"No such object: '{after}'", "starting_after")
    begin = ids.index(after) + 1 if after else 0
    end = begin + min(int(params.get("limit", 10)), MOST_LISTED)
    return {"object": "list", "data": rows[begin:end], "has_more": end < len(rows), "url": url}
