"""Changes and deletes drafts. Broadcasts in any other status stay as they are."""

from datetime import datetime
from typing import Any, Unpack

from django.db import transaction

from agency.actors import Actor
from broadcasts import events
from broadcasts.models import Broadcast
from broadcasts.services.editing.building import AUDIENCE_FIELDS, BroadcastFields, apply_fields
from broadcasts.services.editing.fields.audiences import hold_segment
from broadcasts.services.errors import MoveNotAllowed
from broadcasts.services.events.recording import record_broadcast_change
from broadcasts.services.moving import lock_broadcast
from workspaces.subaccounts.event_types import differences

Status = Broadcast.Status
NOT_CHANGED = "Only a draft can be changed. Cancel this broadcast, and create another one."
NOT_DELETED = "Only a draft can be deleted. This broadcast can be cancelled."
ENDED = "Only a draft can be changed or deleted, and this broadcast has ended."


@transaction.atomic
def change_broadcast(
    *, broadcast: Broadcast, now: datetime, by: Actor, **changes: Unpack[BroadcastFields]
) -> Broadcast:
    """Change a draft. Fields that are not named stay; message and audience are replaced as a whole.

    The draft must be approved again. Raises `MoveNotAllowed` and the errors of `build_broadcast`.
    """
    draft = _lock_draft(broadcast, NOT_CHANGED)
    before = _reading(draft)
    fields = _fields_of(draft) | changes
    apply_fields(draft, keep_audience=not _touches_audience(draft, changes), **fields)
    hold_segment(draft.segment)
    told = differences(before, _reading(draft))
    if told:
        draft.approved_at, draft.approved_by, draft.updated_at = None, "", now
        draft.save()
        record_broadcast_change(draft, events.UPDATED, by=by, now=now, changes=told)
    return draft


@transaction.atomic
def delete_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor) -> None:
    """Delete a draft. Raises `MoveNotAllowed`."""
    draft = _lock_draft(broadcast, NOT_DELETED)
    record_broadcast_change(draft, events.DELETED, by=by, now=now)
    draft.delete()


def _lock_draft(broadcast: Broadcast, otherwise: str) -> Broadcast:
    found = lock_broadcast(broadcast)
    if found.status != Status.DRAFT:
        raise MoveNotAllowed(ENDED if found.status in (Status.SENT, Status.CANCELLED) else otherwise)
    return found


def _fields_of(draft: Broadcast) -> BroadcastFields:
    """Return a draft's fields as the author wrote them, without the audience and without a computed anchor."""
    is_fixed = draft.timezone_mode == Broadcast.TimezoneMode.FIXED
    return {
        "name": draft.name,
        "channel": draft.channel,
        "type": draft.type,
        "message": draft.message,
        "timezone_mode": draft.timezone_mode,
        "scheduled_at": draft.scheduled_at if is_fixed else None,
        "scheduled_local_at": draft.scheduled_local_at,
        "requires_approval": draft.requires_approval,
        "source_broadcast": draft.source_broadcast,
        "retarget_engagement": draft.retarget_engagement,
    }


def _touches_audience(draft: Broadcast, changes: BroadcastFields) -> bool:
    if changes.get("type", draft.type) != draft.type:
        return True
    return any(name in changes for name in AUDIENCE_FIELDS[draft.type])


def _reading(draft: Broadcast) -> dict[str, Any]:
    """Return the values that the event's `changes` may name."""
    source = draft.source_broadcast
    return {
        "name": draft.name,
        "channel": str(draft.channel.uuid),
        "type": draft.type,
        "audience": draft.audience
        and {**draft.audience, "contacts_count": len(draft.chosen_contacts) if draft.chosen_contacts else None},
        "message": draft.message,
        "timezone_mode": draft.timezone_mode,
        "scheduled_at": draft.scheduled_at,
        "scheduled_local_at": draft.scheduled_local_at,
        "requires_approval": draft.requires_approval,
        "source_broadcast_id": source and str(source.uuid),
        "retarget_engagement": draft.retarget_engagement,
    }
