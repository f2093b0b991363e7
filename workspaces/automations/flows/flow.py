"""Reading a flow: its trigger and steps, its open slots, and the workspace's settings in its texts.

A flow is `{trigger: {type, config}, entry, steps: [{id, type, config, next: {port: step id}}]}`. Callers must have
checked the flow before, see `checks.problems_of`.
"""

import copy
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

import orjson
from django.utils.translation import gettext, gettext_noop

from workspaces.automations.flows.fields import is_empty
from workspaces.automations.flows.privacy import KNOWN_VARIABLES, VARIABLE
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType, in_order

# The values of the fields that a type of trigger or step declares, by their names.
Config: TypeAlias = dict[str, object]


class Node(TypedDict):
    """What a flow's trigger and its steps have."""

    type: str
    config: NotRequired[Config]


class Step(Node):
    """A step of a flow. `next` holds the id of the following step for each output."""

    id: str
    next: NotRequired[dict[str, str]]


class Flow(TypedDict):
    """The trigger and the steps of an automation, as they are stored."""

    trigger: Node
    entry: NotRequired[str]
    steps: list[Step]


TRIGGER_NODE: Final = "trigger"


def steps_of(flow: Flow) -> list[Step]:
    return flow["steps"]


def trigger_type(flow: Flow) -> TriggerType:
    return TRIGGERS[flow["trigger"]["type"]]


def step_type(step: Node) -> StepType:
    return STEPS[step["type"]]


def requires_of(flow: Flow) -> list[str]:
    """Give the requirements that a customer must meet before this flow can be switched on."""
    needed = set(trigger_type(flow).requires)
    return in_order(needed.union(*(step_type(step).requires for step in steps_of(flow))))


def has_ai(flow: Flow) -> bool:
    return any(step_type(step).ai for step in steps_of(flow))


def is_catch_all(flow: Flow) -> bool:
    """Say whether the trigger answers every message or comment. A trigger of an unknown type does not."""
    declared = TRIGGERS.get(flow["trigger"]["type"])
    return declared is not None and declared.catch_all


def digest_of(value: object) -> str:
    """Give a digest of a JSON value that does not depend on the order of its objects' keys."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def trigger_digest(trigger: Node) -> str:
    """Give a digest of a trigger: its type and the non-empty values of its configuration."""
    config = trigger.get("config") or {}
    narrowing = {name: value for name, value in config.items() if value not in (None, "", [], {}, False)}
    return digest_of([trigger["type"], narrowing])


def trigger_label(flow: Flow) -> str:
    return trigger_type(flow).label


def step_title(flow: Flow, node: str) -> str:
    """Give the title of a node for people: `Step 3: Ask a question`."""
    if node == TRIGGER_NODE:
        return f"Start: {trigger_label(flow)}"
    position, step = next((at, one) for at, one in enumerate(steps_of(flow), 1) if one["id"] == node)
    return f"Step {position}: {step_type(step).label}"


ROOT = "workspace."
# The settings with the article that sentences need. The name is not among them, because every workspace has one.
SETTING_LABELS = {
    "opening_hours": gettext_noop("the opening hours"),
    "address": gettext_noop("the address"),
    "phone": gettext_noop("the phone number"),
    "email": gettext_noop("the e-mail address"),
    "website": gettext_noop("the website"),
    "booking_link": gettext_noop("the booking link"),
    "review_link": gettext_noop("the review link"),
    "menu_link": gettext_noop("the link to the menu"),
}


def settings_used(flow: Flow) -> dict[str, str]:
    """Give the settings that a flow's texts and steps use, each with the title of the first node that uses it."""
    used: dict[str, str] = {}
    for position, step in enumerate(steps_of(flow), 1):
        for name in step_type(step).settings if step["type"] in STEPS else ():
            used.setdefault(name, f"step {position}")
    for title, config in _nodes(flow):
        for text in _texts(config):
            for name in _settings_in(text):
                used.setdefault(name, title)
    return {name: used[name] for name in SETTING_LABELS if name in used}


def _nodes(flow: Flow) -> Iterator[tuple[str, object]]:
    yield "the start", flow[TRIGGER_NODE].get("config")
    for position, step in enumerate(steps_of(flow), 1):
        yield f"step {position}", step.get("config")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for below in value.values() if isinstance(value, dict) else value:
            yield from _texts(below)


def _settings_in(text: str) -> Iterator[str]:
    for found in VARIABLE.finditer(text):
        name = found[1].strip().removeprefix(ROOT)
        if found[1].strip().startswith(ROOT) and name in SETTING_LABELS:
            yield name


def with_settings(text: str, values: Mapping[str, str]) -> str:
    """Write a workspace's settings into a text, unset ones by their names in brackets. Other variables stay."""

    def written(found: re.Match[str]) -> str:
        root, _, name = found[1].strip().partition(".")
        if root != "workspace" or name not in KNOWN_VARIABLES["workspace"]:
            return found[0]
        return values.get(name) or f"[{gettext(SETTING_LABELS.get(name, 'the name')).removeprefix('the ')}]"

    return VARIABLE.sub(written, text)


# A node's id, and a path below its configuration.
SlotKey = tuple[str, str]


class NoSuchSlot(LookupError):
    """The flow has no value there."""


def _config(flow: Flow, node: str) -> Config:
    if node == TRIGGER_NODE:
        return flow["trigger"].setdefault("config", {})
    for step in flow["steps"]:
        if step["id"] == node:
            return step.setdefault("config", {})
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


def retitled_slots(flow: Flow, slots: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Give the slots with the titles that their steps have now, because a change may give steps other numbers."""
    known = {step["id"] for step in steps_of(flow) if step["type"] in STEPS}
    if flow["trigger"]["type"] in TRIGGERS:
        known.add(TRIGGER_NODE)
    return [{**slot, "step": step_title(flow, slot["node"])} if slot["node"] in known else slot for slot in slots]


def is_same_but_for_slots(one: Flow, other: Flow, slots: Iterable[dict[str, str]]) -> bool:
    """Say whether two flows differ in nothing but the values of these slots."""
    one, other = copy.deepcopy(one), copy.deepcopy(other)
    for slot in slots:
        for flow in (one, other):
            try:
                holder, key = _holder(flow, (slot["node"], slot["path"]))
            except NoSuchSlot:
                continue
            holder[key] = None
    return one == other


def value_in(flow: Flow, slot_key: SlotKey) -> object:
    """Give the value of a slot, None if it has none. Raises `NoSuchSlot`."""
    holder, key = _holder(flow, slot_key)
    return holder[key] if isinstance(holder, list) else holder.get(key)


def _is_open(flow: Flow, slot_key: SlotKey) -> bool:
    try:
        return is_empty(value_in(flow, slot_key))
    except NoSuchSlot:
        return False


def fill_in(flow: Flow, values: Mapping[SlotKey, object]) -> Flow:
    """Give the flow with these values in its slots. Raises `NoSuchSlot`."""
    flow = copy.deepcopy(flow)
    for slot_key, value in values.items():
        holder, key = _holder(flow, slot_key)
        holder[key] = value
    return flow


def with_chosen_templates(flow: Flow, slots: Iterable[dict[str, str]]) -> Flow:
    """Give the flow as if its slots for templates were filled in, so that only what they cannot solve is a reason."""
    templates = [slot for slot in open_slots(flow, slots) if slot["path"] == "template"]
    return fill_in(flow, {(slot["node"], slot["path"]): "chosen" for slot in templates}) if templates else flow
