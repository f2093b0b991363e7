"""Brings a new version of a flow together with the changes that a workspace made to the version that it has."""

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from workspaces.automations.flows.fields import is_empty
from workspaces.automations.flows.flow import (
    TRIGGER_NODE,
    Config,
    Flow,
    Node,
    NoSuchSlot,
    SlotKey,
    Step,
    digest_of,
    fill_in,
    steps_of,
    value_in,
)
from workspaces.automations.flows.registry import STEPS

MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class MergedFlow:
    """The flow that a merge gives.

    `conflicts` names the nodes with values that both sides changed: a person should look at them. `loses_steps` says
    that both sides changed the order of the steps: the flow has the new version's.
    """

    flow: Flow
    conflicts: list[str]
    loses_steps: bool


def merge_new_version(base: Flow, own: Flow, new: Flow, slots: Iterable[dict[str, str]]) -> MergedFlow:
    """Merge in three ways. `own` comes from `base` by the workspace's changes, `new` by those of the pack.

    A value that one side changed is as that side has it. A value that both changed is as in `new`. Values that the
    workspace filled into slots stay.
    """
    shapes = [_shape(flow) for flow in (base, own, new)]
    is_own_order = shapes[1] != shapes[0] and shapes[2] == shapes[0]
    merged = copy.deepcopy(own if is_own_order else new)
    sides = [_nodes(flow) for flow in (base, own, new)]
    conflicts = []
    for node, part in _nodes(merged).items():
        was, here, there = (side.get(node) for side in sides)
        if here is None or there is None or here["type"] != there["type"]:
            continue
        before = _config(was) if was and was["type"] == there["type"] else {}
        config, is_conflict = _merged_config(before, _config(here), _config(there))
        if _ports(part, config) != _ports(part, _config(part)):
            # Its outputs follow from its values, so both come from one side.
            is_conflict = is_conflict or config != _config(part)
        else:
            part["config"] = config
        if is_conflict:
            conflicts.append(node)
    return MergedFlow(
        _with_filled_slots(merged, own, slots),
        conflicts,
        loses_steps=shapes[1] not in (shapes[0], shapes[2]) and not is_own_order,
    )


def _shape(flow: Flow) -> tuple[str, str, list[tuple[str, str, list[tuple[str, str]]]]]:
    """The flow without the values of its steps."""
    steps = sorted((step["id"], step["type"], sorted(step.get("next", {}).items())) for step in steps_of(flow))
    return flow[TRIGGER_NODE]["type"], flow["entry"], steps


def _nodes(flow: Flow) -> dict[str, Node]:
    return {TRIGGER_NODE: flow[TRIGGER_NODE], **{step["id"]: step for step in steps_of(flow)}}


def _config(part: Node) -> Config:
    return part.get("config") or {}


def _ports(part: Node, config: Config) -> set[str]:
    declared = STEPS.get(part["type"])
    return declared.ports_of(config) if declared else set()


def _merged_config(base: Config, own: Config, new: Config) -> tuple[Config, bool]:
    """Give the merged values, and whether both sides changed one of them."""
    merged, is_conflict = {}, False
    for name in {**new, **own}:
        was, here, there = (side.get(name, MISSING) for side in (base, own, new))
        is_kept = was == there != here
        is_conflict = is_conflict or (was not in (here, there) and here != there and not is_empty(here))
        value = here if is_kept else there
        if value is not MISSING:
            merged[name] = copy.deepcopy(value)
    return merged, is_conflict


def _with_filled_slots(merged: Flow, own: Flow, slots: Iterable[dict[str, str]]) -> Flow:
    """Give the flow with the workspace's values in its slots, where the same step asks for them."""
    parts, own_parts = _nodes(merged), _nodes(own)
    values: dict[SlotKey, object] = {}
    for slot in slots:
        node, key = slot["node"], (slot["node"], slot["path"])
        if node in parts and node in own_parts and parts[node]["type"] == own_parts[node]["type"]:
            try:
                filled, present = value_in(own, key), value_in(merged, key)
            except NoSuchSlot:
                continue
            if is_empty(present) and not is_empty(filled):
                values[key] = copy.deepcopy(filled)
    return fill_in(merged, values)


def matching_step_ids(before: Flow, after: Flow) -> dict[str, str]:
    """Give an id for each step of `after`: that of the step of `before` that it is, or a new one.

    Copies number their steps anew. So a step is found again by its type and values, first in the old order and then
    anywhere. A step with other values is found by its type, between two steps that are found.
    """
    old, new = steps_of(before), steps_of(after)
    found: dict[str, str] = {}
    in_order = SequenceMatcher(None, [_mark(step) for step in old], [_mark(step) for step in new], autojunk=False)
    parts = [(tag, old[start:end], new[at:to]) for tag, start, end, at, to in in_order.get_opcodes()]
    for tag, olds, news in parts:
        if tag == "equal":
            _pair(olds, news, found)
    for step in new:
        moved = [one for one in _left(old, found.values()) if step["id"] not in found and _mark(one) == _mark(step)]
        _pair(moved[:1], [step], found)
    for _, olds, news in parts:
        olds, news = _left(olds, found.values()), _left(news, found)
        by_type = SequenceMatcher(None, [step["type"] for step in olds], [step["type"] for step in news], False)
        for block in by_type.get_matching_blocks():
            _pair(olds[block.a : block.a + block.size], news[block.b : block.b + block.size], found)
    number, used = len(old), {step["id"] for step in old}
    for step in _left(new, found):
        number = next(free for free in range(number + 1, number + len(used) + 2) if f"step_{free}" not in used)
        found[step["id"]] = f"step_{number}"
    return found


def _mark(step: Step) -> str:
    return digest_of([step["type"], _config(step)])


def _left(steps: Sequence[Step], ids: Collection[str]) -> list[Step]:
    """Keep the steps without a partner."""
    return [step for step in steps if step["id"] not in ids]


def _pair(old: Sequence[Step], new: Sequence[Step], found: dict[str, str]) -> None:
    found.update({one["id"]: other["id"] for one, other in zip(new, old, strict=False)})


def with_step_ids(flow: Flow, ids: dict[str, str]) -> Flow:
    """Give the flow with other ids of its steps."""
    renamed = copy.deepcopy(flow)
    renamed["entry"] = ids[renamed["entry"]]
    for step in steps_of(renamed):
        step["id"] = ids[step["id"]]
        step["next"] = {port: ids[target] for port, target in step.get("next", {}).items()}
    return renamed
