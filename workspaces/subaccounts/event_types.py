"""How events of workspaces are declared: all alike, so that a topic is one line in its app's hooks."""

from collections.abc import Mapping
from typing import Any

from agency.event_types import EventType
from agency.tenants import Audience
from config.api.fields import DictField
from config.api.serializers import Serializer

CHANGES = {"name": {"from": "Before", "to": "After"}}


def workspace_event_type(
    name: str,
    label: str,
    *,
    group: str,
    resource: str,
    serializer: type[Serializer],
    sample: Mapping[str, Any] | None = None,
    **beside: Any,
) -> EventType:
    """Declare a topic whose `data` holds a resource, as its read shows it, under its own name.

    A name that ends with `.updated` has `changes` too: `{field: {from, to}}`. `beside` are more fields of `data`:
    serializers or fields by their names. `sample` changes parts of the resource's example. Nothing is recorded while
    nobody would get it.
    """
    fields: dict[str, Any] = {resource: serializer(), **beside}
    if name.endswith(".updated"):
        fields["changes"] = DictField(help_text="`{field: {from, to}}` of what changed.", example=CHANGES)
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


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give `{field: {from, to}}` of what two readings of a resource differ in."""
    return {name: {"from": before.get(name), "to": value} for name, value in after.items() if before.get(name) != value}
