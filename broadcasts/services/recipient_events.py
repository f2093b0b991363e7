"""Records changes of a broadcast and of its recipients as activity and as events, many recipients at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from agency.actors import Actor
from agency.services import NewEvent, record_activity, record_events, subscribed_events
from agency.services.activity import from_differences
from agency.tenants import Tenant
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.listing import with_contacts, with_progress
from workspaces.subaccounts.services import record_workspace_event

# The ids of broadcast and contact.
Key = tuple[int, int]


def record_recipient_events(name: str, keys: Collection[Key], *, now: datetime) -> None:
    """Record an event for each of these recipients, in the transaction of the change."""
    if not keys:
        return
    broadcasts = Broadcast.objects.filter(pk__in={broadcast for broadcast, _ in keys}).select_related("workspace")
    by_key = {broadcast.pk: broadcast for broadcast in broadcasts}
    wanted = subscribed_events({broadcast.workspace_id for broadcast in by_key.values()})
    asked = [key for key in keys if key[0] in by_key and name in wanted.get(by_key[key[0]].workspace_id, ())]
    record_events(
        NewEvent(tenant=_tenant(by_key[one.broadcast_id]), name=name, data=_data(one, by_key), occurred_at=now)
        for one in with_contacts(list(_recipients(asked)))
    )


def _recipients(keys: Iterable[Key]) -> Iterable[Recipient]:
    contacts: defaultdict[int, list[int]] = defaultdict(list)
    for broadcast, contact in keys:
        contacts[broadcast].append(contact)
    for broadcast, ids in contacts.items():
        yield from Recipient.objects.filter(broadcast_id=broadcast, contact_id__in=ids).order_by("contact_id")


def _tenant(broadcast: Broadcast) -> Tenant:
    workspace = broadcast.workspace
    return Tenant(workspace.agency_id, workspace.pk, workspace.uuid)


def _data(recipient: Recipient, broadcasts: dict[int, Broadcast]) -> dict[str, object]:
    return {"recipient": recipient, "broadcast": broadcasts[recipient.broadcast_id]}


__all__ = ["record_broadcast_change", "record_broadcast_event", "record_recipient_events"]


def record_broadcast_change(
    broadcast: Broadcast, name: str, *, by: Actor, now: datetime, details: dict[str, Any] | None = None, **more: Any
) -> None:
    """Record a change of a broadcast in the change's transaction. Activity entry and event have the same name."""
    record_broadcast_activity(broadcast, name, by=by, details=details, changes=more.get("changes", {}))
    record_broadcast_event(broadcast, name, now=now, **more)


def record_broadcast_activity(
    broadcast: Broadcast,
    name: str,
    *,
    by: Actor,
    details: dict[str, Any] | None = None,
    changes: Mapping[str, Mapping[str, object]],
) -> None:
    """Add an entry to the activity log. `changes` are `{field: {from, to}}`."""
    workspace = broadcast.workspace
    record_activity(
        by=by,
        action=name,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("broadcast", broadcast.uuid, broadcast.name),
        details=details,
        changes=from_differences(changes),
    )


def record_broadcast_event(broadcast: Broadcast, name: str, *, now: datetime, **more: object) -> None:
    """Record an event with the broadcast in the API's form, and `more` beside it."""
    with_progress([broadcast], now=now)
    record_workspace_event(workspace=broadcast.workspace, name=name, now=now, broadcast=broadcast, **more)
