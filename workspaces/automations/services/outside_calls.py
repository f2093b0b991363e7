"""Plans calls of other systems in the engine's transaction, and records how they ended."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from django.db import transaction

from config.celery import wake_up
from config.db import database_now
from config.retention import ExpiredRows
from workspaces.automations.execution.types import CallAi, CallHttp
from workspaces.automations.models import OutsideCall
from workspaces.automations.models.calls import LONGEST_PEER
from workspaces.automations.services.ai_accounts import record_answer, record_outage, record_refused_key
from workspaces.automations.services.ai_budgets import Settlement, settle
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events

# The name by which the dispatcher of calls is woken up.
OUTSIDE_CALLS: Final = "outside-calls"
# No call is begun later than this after it was planned. A run should wait a little longer: `LONGEST_WAIT`.
LONGEST_LIFE: Final = timedelta(minutes=2)
LONGEST_WAIT: Final = LONGEST_LIFE + timedelta(minutes=1)
# A larger request is not kept; its call ends with the code `too_large`.
MOST_REQUEST_BYTES: Final = 128 * 1024
CALLS: Final = ExpiredRows(
    "automations_outsidecall", "ended_at", timedelta(days=7), order="ended_at", of="ended_at IS NOT NULL"
)
USAGE: Final = ExpiredRows("automations_aiusage", "month", timedelta(days=400), order="month")
AGENCY_USAGE: Final = ExpiredRows("automations_agencyaiusage", "month", timedelta(days=400), order="month")
CALL_RULES: Final = (CALLS.rule("outside_calls"), USAGE.rule("ai_usage"), AGENCY_USAGE.rule("agency_ai_usage"))


class NewCall(NamedTuple):
    """A call to plan for the step `seq` of a run. `depth` is the run's."""

    run_id: int
    run_uuid: UUID
    seq: int
    agency_id: int
    workspace_id: int
    contact_id: int
    effect: CallHttp | CallAi
    channel_id: int | None = None
    conversation_id: int | None = None
    depth: int = 0


def plan_calls(calls: Sequence[NewCall], *, now: datetime) -> None:
    """Plan calls, each once by its run and step, and wake the dispatcher after the caller's transaction.

    The result comes as a `TriggerEvent` of kind `call_ended`. `now` is the database's time.
    """
    if calls:
        OutsideCall.objects.bulk_create([_row(one, now) for one in calls], batch_size=500, ignore_conflicts=True)
        wake_up(OUTSIDE_CALLS)


def _row(call: NewCall, now: datetime) -> OutsideCall:
    effect = call.effect
    request = orjson.dumps(effect)
    return OutsideCall(
        run_id=call.run_id,
        run_uuid=call.run_uuid,
        seq=call.seq,
        agency_id=call.agency_id,
        workspace_id=call.workspace_id,
        contact_id=call.contact_id,
        channel_id=call.channel_id,
        conversation_id=call.conversation_id,
        depth=call.depth,
        kind=OutsideCall.Kind.HTTP if isinstance(effect, CallHttp) else OutsideCall.Kind(effect.purpose),
        peer=_peer(call),
        request=request.decode() if len(request) <= MOST_REQUEST_BYTES else None,
        due_at=now,
        deadline=now + LONGEST_LIFE,
    )


def _peer(call: NewCall) -> str:
    """Return what may be slow: the host of a URL, or the agency's A.I. account."""
    effect = call.effect
    if isinstance(effect, CallAi):
        return f"ai:{call.agency_id}:{effect.account[:40]}"
    try:
        return f"host:{urlsplit(effect.url[:2048]).hostname or ''}".replace("\0", "")[:LONGEST_PEER]
    except ValueError:
        return "host:"


# Results ---------------------------------------------------------------------------------------------

# The kind of the events that continue the runs.
CALL_ENDED: Final = "call_ended"


class CallResult(NamedTuple):
    """How a try of a claimed call went. `code` is "" if there is a result.

    With `again_after` the call is planned once more. `cost` is in millionths of the account's currency. `health` says
    what the try shows of the account: answered, outage, refused or nothing.
    """

    call_id: int
    tries: int
    code: str = ""
    result: Mapping[str, object] | None = None
    again_after: timedelta | None = None
    is_unknown: bool = False
    cost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    health: str = ""
    key_since: datetime | None = None

    @property
    def status(self) -> OutsideCall.Status:
        if self.again_after is not None:
            return OutsideCall.Status.PLANNED
        if self.is_unknown:
            return OutsideCall.Status.UNKNOWN
        return OutsideCall.Status.FAILED if self.code else OutsideCall.Status.DONE


@transaction.atomic
def record_results(results: Iterable[CallResult], *, worker: int | None) -> int:
    """Record results with their events, in one transaction, and settle the budgets. Return how many were recorded.

    A result counts only while the worker run `worker` holds the claim of that very try. None records calls that nobody
    holds.
    """
    by_id = {one.call_id: one for one in results}
    now = database_now()
    rows = OutsideCall.objects.filter(pk__in=by_id, status__in=OutsideCall.ACTIVE, claimed_by=worker)
    # In one order, so that two transactions do not wait for each other.
    locked = list(rows.defer("request").order_by("pk").select_for_update())
    held = [(row, by_id[row.pk]) for row in locked if row.tries == by_id[row.pk].tries]
    record_trigger_events([_event(row, one) for row, one in held if one.again_after is None])
    _settle_and_watch(held, now)
    for row, one in held:
        _end(row, one, now)
    return len(held)


def _event(call: OutsideCall, one: CallResult) -> NewTriggerEvent:
    told = {"run": call.run_id, "seq": call.seq, "ok": not one.code, "result": one.result or {}, "code": one.code}
    return NewTriggerEvent(
        workspace_id=call.workspace_id,
        contact_id=call.contact_id,
        kind=CALL_ENDED,
        source_key=f"call:{call.run_id}:{call.seq}",
        channel_id=call.channel_id,
        conversation_id=call.conversation_id,
        data=told,
        depth=call.depth,
        cause=call.run_id,
    )


def _end(call: OutsideCall, one: CallResult, now: datetime) -> None:
    changes: dict[str, object] = {"status": one.status, "code": one.code, "claimed_by": None, "reserved": 0}
    if one.again_after is None:
        changes |= {"ended_at": now, "request": None}
    else:
        changes["due_at"] = now + one.again_after
    OutsideCall.objects.filter(pk=call.pk).update(**changes)


def _settle_and_watch(held: Sequence[tuple[OutsideCall, CallResult]], now: datetime) -> None:
    """Settle the budgets and record the accounts' health, in one order of their rows."""
    settle(settlement for row, one in held if (settlement := settlement_of(row, one)))
    for row, one in sorted(held, key=lambda pair: pair[0].account_id or 0):
        if row.account_id is None:
            continue
        if one.health == "answered":
            record_answer(row.account_id)
        elif one.health == "outage":
            record_outage(row.account_id, now=now)
        elif one.health == "refused" and one.key_since is not None:
            record_refused_key(row.account_id, key_since=one.key_since, now=now)


def settlement_of(call: OutsideCall, one: CallResult) -> Settlement | None:
    """Return what replaces the reservation of a try; None without one. No try costs more than was reserved for it."""
    if call.account_id is None or call.month is None or not call.reserved:
        return None
    return Settlement(
        agency_id=call.agency_id,
        account_id=call.account_id,
        workspace_id=call.workspace_id,
        month=call.month,
        reserved=call.reserved,
        cost=min(one.cost, call.reserved),
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
    )
