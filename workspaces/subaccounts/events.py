"""Names of this app's events, and the declaration of workspace events, so that hooks need one line for each type."""

from collections.abc import Mapping
from typing import Any

from agency.event_types import EventType
from agency.tenants import Audience
from config.api.fields import DictField
from config.api.serializers import Serializer

WORKSPACE_CREATED = "workspace.created"
WORKSPACE_SUSPENDED = "workspace.suspended"
WORKSPACE_RESTORED = "workspace.restored"
SUBSCRIPTION_CHANGED = "subscription.changed"
ADDON_GRANTED = "addon.granted"
ADDON_REVOKED = "addon.revoked"
CHANNEL_CONNECTED = "channel.connected"
CHANNEL_ERROR = "channel.error"
CHANNEL_DISCONNECTED = "channel.disconnected"
CHANNEL_LIMIT_CHANGED = "channel.limit_changed"


CHANGES_EXAMPLE = {"name": {"from": "Before", "to": "After"}}


def workspace_event_type(
    name: str,
    label: str,
    *,
    group: str,
    resource: str,
    serializer: type[Serializer],
    sample: Mapping[str, object] | None = None,
    **beside: object,
) -> EventType:
    """Declare an event type whose `data` holds a resource under its name, in the form in which the API reads it.

    A name that ends with `.updated` adds `changes`: `{field: {from, to}}`. `beside` adds more serializers or fields to
    `data` by their names. `sample` overrides parts of the resource's example. An event without subscribers is not
    recorded.
    """
    fields: dict[str, object] = {resource: serializer(), **beside}
    if name.endswith(".updated"):
        fields["changes"] = DictField(help_text="`{field: {from, to}}` of what changed.", example=CHANGES_EXAMPLE)
    title = "".join(part.capitalize() for part in name.replace(".", "_").split("_"))
    documented = {**fields, "__doc__": f"What `{name}` carries.", "__module__": __name__}
    return EventType(
        name=name,
        label=label,
        group=group,
        audience=Audience.WORKSPACE,
        serializer=type(f"{title}EventSerializer", (Serializer,), documented),
        sample={resource: sample} if sample else {},
        only_if_subscribed=True,
    )


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Give `{field: {from, to}}` for each field in which two states of a resource differ."""
    return {name: {"from": before.get(name), "to": value} for name, value in after.items() if before.get(name) != value}
