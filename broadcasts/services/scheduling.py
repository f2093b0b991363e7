"""Sets a broadcast's time as it is scheduled, or again until it begins."""

from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from broadcasts import events
from broadcasts.models import Broadcast
from broadcasts.services.editing import one_of
from broadcasts.services.errors import MoveNotAllowed
from broadcasts.services.fields import checked_timing
from broadcasts.services.moving import SWEEP, check_it_can_be_sent, lock_broadcast, schedule_broadcast
from broadcasts.services.recipient_events import record_broadcast_change
from config.celery import wake_up
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.services import lock_workspace

Status = Broadcast.Status
# A broadcast that begins sooner may be beginning at this moment.
TOO_SOON: Final = timedelta(minutes=1)
BEGINS_NOW: Final = "This broadcast begins within a minute: its time stays. Cancel it, and create another one."


class Timing(TypedDict, total=False):
    """A broadcast's time under the API's names. A field that is not named stays as it is."""

    timezone_mode: str
    scheduled_at: datetime | str
    scheduled_local_at: str


@transaction.atomic
def schedule_broadcast_at(*, broadcast: Broadcast, now: datetime, by: Actor, **timing: Unpack[Timing]) -> Broadcast:
    """Schedule a draft for a time, or give a scheduled broadcast another. A new time needs a new approval.

    Raises `BroadcastRefused` for an invalid time, and the errors of `schedule_broadcast`.
    """
    lock_workspace(broadcast.workspace)
    found = lock_broadcast(broadcast)
    if found.status not in (Status.DRAFT, Status.SCHEDULED) or not timing:
        return schedule_broadcast(broadcast=found, now=now, by=by)
    if found.status == Status.SCHEDULED and (found.due_at is None or found.due_at <= now + TOO_SOON):
        raise MoveNotAllowed(BEGINS_NOW)
    told = _set_timing(found, timing)
    if found.status == Status.DRAFT:
        if told:
            _save(found, told, now=now, by=by)
        return schedule_broadcast(broadcast=found, now=now, by=by)
    check_it_can_be_sent(found)
    if told:
        found.due_at = found.scheduled_at or now
        _save(found, told, now=now, by=by)
        wake_up(SWEEP)
    return found


def _set_timing(broadcast: Broadcast, timing: Timing) -> dict[str, dict[str, object]]:
    """Write the checked time into a broadcast. Returns the changes for its event."""
    before = _event_values(broadcast)
    mode = one_of("timezone_mode", timing.get("timezone_mode", broadcast.timezone_mode), Broadcast.TimezoneMode)
    # An anchor is computed, not written by the author.
    is_anchor = broadcast.timezone_mode != Broadcast.TimezoneMode.FIXED
    at = timing.get("scheduled_at", None if is_anchor else broadcast.scheduled_at)
    wall = timing.get("scheduled_local_at", broadcast.scheduled_local_at)
    broadcast.timezone_mode = mode
    broadcast.scheduled_at, broadcast.scheduled_local_at = checked_timing(mode, at, wall)
    return differences(before, _event_values(broadcast))


def _save(broadcast: Broadcast, told: dict[str, dict[str, object]], *, now: datetime, by: Actor) -> None:
    broadcast.approved_at, broadcast.approved_by, broadcast.updated_at = None, "", now
    approval = ("approved_at", "approved_by", "updated_at")
    broadcast.save(update_fields=("timezone_mode", "scheduled_at", "scheduled_local_at", "due_at", *approval))
    record_broadcast_change(broadcast, events.UPDATED, by=by, now=now, changes=told)


def _event_values(broadcast: Broadcast) -> dict[str, object]:
    """Return the values that the event's `changes` may name."""
    return {
        "timezone_mode": broadcast.timezone_mode,
        "scheduled_at": broadcast.scheduled_at,
        "scheduled_local_at": broadcast.scheduled_local_at,
    }
