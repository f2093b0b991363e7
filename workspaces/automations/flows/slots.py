"""Slots of an installed flow: which are still open, and filling them."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from workspaces.automations.flows.fields import is_empty
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow

Place = tuple[str, str]


class NoSuchSlot(LookupError):
    """The flow has no value at this place."""


def _config(flow: Flow, node: str) -> dict[str, Any]:
    if node == TRIGGER_NODE:
        return flow["trigger"].setdefault("config", {})  # type: ignore[no-any-return]  # JSON from the row
    for step in flow["steps"]:
        if step["id"] == node:
            return step.setdefault("config", {})  # type: ignore[no-any-return]  # JSON from the row
    raise NoSuchSlot


def _holder(flow: Flow, place: Place) -> tuple[Any, Any]:
    """Give the object or list that holds the value, and the key in it."""
    node, path = place
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
    """Keep the slots that still wait; one whose step is gone waits no more."""
    return [slot for slot in slots if _is_open(flow, (slot["node"], slot["path"]))]


def value_in(flow: Flow, place: Place) -> Any:
    """Give what stands in a slot, None where nothing does. Raises `NoSuchSlot`."""
    holder, key = _holder(flow, place)
    return holder[key] if isinstance(holder, list) else holder.get(key)


def _is_open(flow: Flow, place: Place) -> bool:
    try:
        return is_empty(value_in(flow, place))
    except NoSuchSlot:
        return False


def filled(flow: Flow, values: Mapping[Place, Any]) -> Flow:
    """Give the flow with these values in its slots. Raises `NoSuchSlot`."""
    flow = copy.deepcopy(flow)
    for place, value in values.items():
        holder, key = _holder(flow, place)
        holder[key] = value
    return flow
