"""The slots of an installed flow: finding the open ones, reading and filling them."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from workspaces.automations.flows.fields import is_empty
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow

# A node's id, and a path below its configuration.
SlotKey = tuple[str, str]


class NoSuchSlot(LookupError):
    """The flow has no value there."""


def _config(flow: Flow, node: str) -> dict[str, Any]:
    if node == TRIGGER_NODE:
        return flow["trigger"].setdefault("config", {})  # type: ignore[no-any-return]  # JSON from the row
    for step in flow["steps"]:
        if step["id"] == node:
            return step.setdefault("config", {})  # type: ignore[no-any-return]  # JSON from the row
    raise NoSuchSlot


def _holder(flow: Flow, slot_key: SlotKey) -> tuple[Any, Any]:
    """Give the object or list that holds the value, and the key in it."""
    node, path = slot_key
    *above, last = path.split(".")
    holder: Any = _config(flow, node)
    try:
        for part in above:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        if isinstance(holder, list):
            holder[int(last)]
            return holder, int(last)
        if isinstance(holder, dict):
            return holder, last
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise NoSuchSlot from error
    raise NoSuchSlot


def open_slots(flow: Flow, slots: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Keep the slots that are not filled in. A slot whose step is gone is not open."""
    return [slot for slot in slots if _is_open(flow, (slot["node"], slot["path"]))]


def value_in(flow: Flow, slot_key: SlotKey) -> Any:
    """Give the value of a slot, None if it has none. Raises `NoSuchSlot`."""
    holder, key = _holder(flow, slot_key)
    return holder[key] if isinstance(holder, list) else holder.get(key)


def _is_open(flow: Flow, slot_key: SlotKey) -> bool:
    try:
        return is_empty(value_in(flow, slot_key))
    except NoSuchSlot:
        return False


def filled(flow: Flow, values: Mapping[SlotKey, Any]) -> Flow:
    """Give the flow with these values in its slots. Raises `NoSuchSlot`."""
    flow = copy.deepcopy(flow)
    for slot_key, value in values.items():
        holder, key = _holder(flow, slot_key)
        holder[key] = value
    return flow
