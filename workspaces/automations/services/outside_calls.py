"""Plans calls of other systems in the engine's transaction, and records how they ended."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import orjson

from config.celery import wake_up
from workspaces.automations.execution.types import CallAi, CallHttp
from workspaces.automations.models import OutsideCall
from workspaces.automations.models.calls import LONGEST_PEER

# The name by which the dispatcher of calls is woken up.
OUTSIDE_CALLS: Final = "outside-calls"
# No call is begun later than this after it was planned. A run should wait a little longer: `LONGEST_WAIT`.
LONGEST_LIFE: Final = timedelta(minutes=2)
LONGEST_WAIT: Final = LONGEST_LIFE + timedelta(minutes=1)
# A larger request is not kept; its call ends with the code `too_large`.
MOST_REQUEST_BYTES: Final = 128 * 1024


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
