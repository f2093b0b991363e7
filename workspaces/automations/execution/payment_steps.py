"""The step that asks for a payment: it sends the link to an invoice, and waits for the money."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from workspaces.automations.execution.internal_calls import NOTHING_DUE, RequestPayment
from workspaces.automations.execution.message_steps import send_link
from workspaces.automations.execution.outside_steps import call_is_late, wait_for_call
from workspaces.automations.execution.running import EXPIRED, Config, Execution, Executor, Leave, Outcome, Pause
from workspaces.automations.execution.types import (
    DEFAULT_WAIT_HOURS,
    CallEnded,
    Happened,
    RunEvent,
    TimedOut,
    Wait,
    WaitKind,
)

PAYMENT_RECEIVED: Final = "payment_received"


def _begin(run: Execution, config: Config) -> Outcome:
    amount = config.get("amount")
    run.do(
        RequestPayment(
            pays=config["pays"],
            amount="" if amount is None else str(amount),
            product=config.get("product") or "",
            appointment=run.values.get("appointment", {}).get("id", ""),
        )
    )
    return wait_for_call(run)


def _resume(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    is_asked = run.state.wait is not None and run.state.wait.kind is WaitKind.EVENT
    if is_asked and isinstance(event, TimedOut):
        return Leave("not_paid", EXPIRED)
    if is_asked:
        return _paid(run, event)
    if isinstance(event, CallEnded):
        return _asked(run, config, event)
    return call_is_late(event, "not_paid")


def _asked(run: Execution, config: Config, event: CallEnded) -> Outcome:
    """Send the link, and wait until the invoice is paid."""
    payment = event.result.get("payment")
    if not event.ok or not payment:
        return Leave("paid" if event.code == NOTHING_DUE else "not_paid", event.code)
    run.values = {**run.values, "payment": dict(payment)}
    send_link(run, config.get("text"), payment["link"])
    until = run.context.now + timedelta(hours=DEFAULT_WAIT_HOURS)
    return Pause(Wait(WaitKind.EVENT, until, f"{PAYMENT_RECEIVED}:{event.result['invoice']}"))


def _paid(run: Execution, event: RunEvent) -> Outcome | None:
    if not isinstance(event, Happened):
        return None
    run.values = {**run.values, **event.values}
    return Leave("paid")


PAYMENT_EXECUTORS: Final[Mapping[str, Executor]] = {"payment_link": Executor(_begin, _resume)}
