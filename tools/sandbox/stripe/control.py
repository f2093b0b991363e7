"""What a test or a developer can make happen at the stand-in for Stripe, by POST to `/__control/NAME`."""

from collections.abc import Callable
from typing import Any, Final

from tools.sandbox.stripe import api, payouts
from tools.sandbox.stripe.state import Account, Fault, Object, StripeState, shown

KINDS: Final = frozenset({"429", "500", "403", "garbage", "huge", "hang", "close"})


def control(state: StripeState, name: str, options: Object) -> Any:
    """Do what the name says. An unknown name or object raises `KeyError`."""
    if name == "release":  # posts to the product, which may call back
        return {"accepted": state.sender.release(**options)}
    with state.lock:
        return HANDLERS[name](state, options)


def _reset(state: StripeState, options: Object) -> Any:
    state.reset()
    return {}


def _forget_objects(state: StripeState, options: Object) -> Any:
    """Forget what was paid. Accounts keep their keys and webhook endpoints."""
    for account in state.accounts.values():
        kinds = ("sessions", "intents", "refunds", "disputes", "balance", "payouts", "events")
        for kind in kinds:
            getattr(account, kind).clear()
    return {}


def _fault(state: StripeState, options: Object) -> Any:
    """Play a fault at calls; without options, no fault any more."""
    if not options:
        state.faults.clear()
        return {}
    fault = Fault(**options)
    if fault.kind not in KINDS:
        raise ValueError(f"A fault is one of {', '.join(sorted(KINDS))}.")
    state.faults.append(fault)
    return {}


def _hold(state: StripeState, options: Object) -> Any:
    """Keep events from now on, until they are taken or released; with `{"on": false}` post them at once again."""
    state.sender.is_holding = options.get("on", True)
    return {}


def _key(state: StripeState, options: Object) -> Any:
    """Revoke a key, or let it lack the permission for calls by their names."""
    if options.get("revoked"):
        state.revoked.add(options["key"])
    state.lacking[options["key"]] = set(options.get("lacking", ()))
    return {}


def _pay(state: StripeState, options: Object) -> Any:
    account, session = _session(state, options["session"])
    api.pay(state, account, session, options.get("how", "pay"))
    return shown(session)


def _settle(state: StripeState, options: Object) -> Any:
    account, session = _session(state, options["session"])
    api.settle(state, account, session, succeeds=options.get("succeeds", True))
    return shown(session)


def _expire(state: StripeState, options: Object) -> Any:
    account, session = _session(state, options["session"])
    session["expires_at"] = 0
    api.expire_if_late(state, account, session)
    return shown(session)


def _refund(state: StripeState, options: Object) -> Any:
    """Give money back as a person does in Stripe's dashboard."""
    account = _account_with(state, "intents", options["payment_intent"])
    made = {"payment_intent": options["payment_intent"], "amount": options["amount"]}
    return api.create_refund(state, account, {**made, "_status": options.get("status", "succeeded")})


def _change_refund(state: StripeState, options: Object) -> Any:
    account = _account_with(state, "refunds", options["refund"])
    api.change_refund(state, account, account.refunds[options["refund"]], options["status"])
    return account.refunds[options["refund"]]


def _dispute(state: StripeState, options: Object) -> Any:
    account = _account_with(state, "intents", options["payment_intent"])
    made = api.open_dispute(state, account, options["payment_intent"], options.get("amount"))
    made["created"] -= options.get("ago", 0)
    return made


def _close_dispute(state: StripeState, options: Object) -> Any:
    account = _account_with(state, "disputes", options["dispute"])
    api.close_dispute(state, account, account.disputes[options["dispute"]], won=options["won"])
    return account.disputes[options["dispute"]]


def _endpoint(state: StripeState, options: Object) -> Any:
    """Delete a webhook endpoint, or change some of it, as a person does in Stripe's dashboard."""
    account = _account_with(state, "endpoints", options["endpoint"])
    found = account.endpoints[options["endpoint"]]
    if options.get("deleted"):
        del account.endpoints[found["id"]]
    found.update({name: options[name] for name in ("status", "url", "enabled_events") if name in options})
    return found


def _forget_events(state: StripeState, options: Object) -> Any:
    """Forget all events, as Stripe does after thirty days."""
    for account in state.accounts.values():
        account.events.clear()
    return {}


def _flood(state: StripeState, options: Object) -> Any:
    """Make many events about refunds that no longer exist, as if they had happened some seconds ago."""
    account = state.account_of(options["key"])
    for number in range(options["number"]):
        state.record(
            account, "refund.created", {"id": f"re_gone{number}", "object": "refund"}, ago=options.get("ago", 0)
        )
    return {}


def _payout(state: StripeState, options: Object) -> Any:
    """Pay out what has arrived since the last payout, or `amount` as a person does in Stripe's dashboard."""
    account = state.accounts[options.get("account", "acct_demo")]
    for fee in options.get("fees", ()):
        payouts.charge_fee(account, fee)
    return shown(payouts.create(state, account, options.get("amount"), options.get("days", 2)))


def _change_payout(state: StripeState, options: Object) -> Any:
    """Let a payout become `in_transit`, `paid`, `failed` or `canceled`, or be `reconciled`."""
    account = _account_with(state, "payouts", options["payout"])
    payout = account.payouts[options["payout"]]
    payouts.change(state, account, payout, options["status"])
    return shown(payout)


def _ledger(state: StripeState, options: Object) -> Any:
    """Tell all calls, and every object of every account."""
    kinds = ("endpoints", "sessions", "intents", "refunds", "disputes", "balance", "payouts")
    objects = {
        kind: [shown(one) for account in state.accounts.values() for one in getattr(account, kind).values()]
        for kind in kinds
    }
    return {"calls": list(state.calls), **objects}


def _session(state: StripeState, key: str) -> tuple[Account, Object]:
    account = _account_with(state, "sessions", key)
    return account, account.sessions[key]


def _account_with(state: StripeState, kind: str, key: str) -> Account:
    found = next((account for account in state.accounts.values() if key in getattr(account, kind)), None)
    if found is None:
        raise KeyError(key)
    return found


HANDLERS: Final[dict[str, Callable[[StripeState, Object], Any]]] = {
    "reset": _reset,
    "forget_objects": _forget_objects,
    "fault": _fault,
    "hold": _hold,
    "take": lambda state, options: state.sender.take(),
    "key": _key,
    "pay": _pay,
    "settle": _settle,
    "expire": _expire,
    "refund": _refund,
    "change_refund": _change_refund,
    "dispute": _dispute,
    "close_dispute": _close_dispute,
    "endpoint": _endpoint,
    "flood": _flood,
    "forget_events": _forget_events,
    "payout": _payout,
    "change_payout": _change_payout,
    "ledger": _ledger,
}
