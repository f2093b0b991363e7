"""What changes of broadcasts leave behind: an activity entry, and an event of the workspace's."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from agency.actors import Actor
from agency.services import NewEvent, record_activity, record_events, subscribed_events
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.listing import joined, with_contacts, with_progress
from workspaces.subaccounts.services import record_workspace_event, tenant_of


def record_broadcast_change(
    broadcast: Broadcast, name: str, *, by: Actor, now: datetime, details: dict[str, Any] | None = None, **more: Any
) -> None:
    """Record what happened to a broadcast, in the change's transaction: its event's name is the activity's too."""
    workspace = broadcast.workspace
    record_activity(
        by=by,
        action=name,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("broadcast", broadcast.uuid, broadcast.name),
        details=details,
    )
    record_broadcast_event(broadcast, name, now=now, **more)


def record_broadcast_event(broadcast: Broadcast, name: str, *, now: datetime, **more: Any) -> None:
    """Record an event that carries a broadcast as its read shows it, with `more` beside it."""
    with_progress([broadcast], now=now)
    record_workspace_event(workspace=broadcast.workspace, name=name, now=now, broadcast=broadcast, **more)


def record_recipient_events(name: str, recipients: Collection[tuple[int, int]], *, now: datetime) -> None:
    """Record what happened to recipients, by their broadcasts and contacts, in the transaction in which it did.

    Where nobody wants it, two statements and no row.
    """
    ids = {broadcast for broadcast, _ in recipients}
    broadcasts = {one.pk: one for one in joined(Broadcast.objects.filter(pk__in=ids))}
    names = subscribed_events({one.workspace_id for one in broadcasts.values()})
    wanted = {pk: one for pk, one in broadcasts.items() if name in names.get(one.workspace_id, ())}
    for broadcast in wanted.values():
        contacts = [contact for own, contact in recipients if own == broadcast.pk]
        rows = with_contacts(list(Recipient.objects.of(broadcast).filter(contact_id__in=contacts).newest_first()))
        record_events(
            NewEvent(
                tenant=tenant_of(broadcast.workspace),
                name=name,
                data={"broadcast": broadcast, "recipient": row},
                occurred_at=now,
            )
            for row in rows
        )
