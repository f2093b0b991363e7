"""Records a change of a broadcast: an activity entry, and an event for the workspace."""

from datetime import datetime
from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity.fields import from_differences
from broadcasts.models import Broadcast
from broadcasts.services.events.recipient_events import record_recipient_events
from broadcasts.services.listing import with_progress
from workspaces.subaccounts.services import record_workspace_event

__all__ = ["record_broadcast_change", "record_broadcast_event", "record_recipient_events"]


def record_broadcast_change(
    broadcast: Broadcast, name: str, *, by: Actor, now: datetime, details: dict[str, Any] | None = None, **more: Any
) -> None:
    """Record a change of a broadcast in the change's transaction. Activity entry and event have the same name."""
    workspace = broadcast.workspace
    record_activity(
        by=by,
        action=name,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("broadcast", broadcast.uuid, broadcast.name),
        details=details,
        changes=from_differences(more.get("changes", {})),
    )
    record_broadcast_event(broadcast, name, now=now, **more)


def record_broadcast_event(broadcast: Broadcast, name: str, *, now: datetime, **more: Any) -> None:
    """Record an event with the broadcast in the API's form, and `more` beside it."""
    with_progress([broadcast], now=now)
    record_workspace_event(workspace=broadcast.workspace, name=name, now=now, broadcast=broadcast, **more)
