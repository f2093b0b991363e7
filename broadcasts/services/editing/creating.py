"""Creates a broadcast, as a draft or scheduled at once."""

from datetime import datetime
from typing import Unpack

from django.db import transaction

from agency.actors import Actor
from broadcasts import events
from broadcasts.models import Broadcast
from broadcasts.services.editing.building import BroadcastFields, build_broadcast
from broadcasts.services.editing.fields.audiences import hold_segment
from broadcasts.services.events.recording import record_broadcast_change
from broadcasts.services.moving import schedule_broadcast
from workspaces.subaccounts.models import Workspace


@transaction.atomic
def create_broadcast(
    *, workspace: Workspace, now: datetime, by: Actor, schedule: bool = False, **fields: Unpack[BroadcastFields]
) -> Broadcast:
    """Create a draft; `schedule` also schedules it.

    Raises the errors of `build_broadcast` and `schedule_broadcast`.
    """
    broadcast = build_broadcast(workspace=workspace, **fields)
    broadcast.created_at = broadcast.updated_at = now
    broadcast.created_by_kind, broadcast.created_by_label = by.kind, by.label
    hold_segment(broadcast.segment)
    broadcast.save(force_insert=True)
    record_broadcast_change(broadcast, events.CREATED, by=by, now=now)
    return schedule_broadcast(broadcast=broadcast, by=by, now=now) if schedule else broadcast
