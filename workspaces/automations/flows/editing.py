"""Changes of a flow by people: pure functions that give a changed copy, or refuse with a sentence.

A valid graph stays valid: every step can be reached, every edge leads to a step, and no circle is without a step that
waits. A change that would cut steps off is refused, unless the caller wants them removed too.
"""

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.checks import loops_without_pause, reached_steps
from workspaces.automations.flows.flow import TRIGGER_NODE, Config, Flow, Step, steps_of
from workspaces.automations.flows.outline import START, Place, in_reading_order, ports_in_order, target_of
from workspaces.automations.flows.registry import STEPS

# A flow that people edit has at most this many steps.
MOST_EDITED_STEPS: Final = 100
NEEDS_A_STEP: Final = _("An automation needs at least one step.")
NO_SUCH_PLACE: Final = _("This place is not in the automation any more.")
NO_SUCH_STEP: Final = _("This step is not in the automation any more.")
UNREACHED: Final = _("After this change nothing leads to some steps any more.")
CIRCLE: Final = _("After this change the automation runs in a circle without a step that waits.")
TOO_MANY_STEPS: Final = _("An automation can have at most 100 steps.")
OWN_PLACE: Final = _("A step cannot stand behind itself.")

# For each item of a list, its position before the change; None for a new one.
Origins = Sequence[int | None]


class EditRefused(ValueError):
    """The change would break the flow. `unreached` names the steps to which nothing would lead any more."""

    def __init__(self, sentence: str, unreached: Collection[str] = ()) -> None:
        super().__init__(sentence)
        self.sentence, self.unreached = sentence, list(unreached)


def find_step(flow: Flow, node: str) -> Step:
    """Give a step. Raises `EditRefused`."""
    for step in steps_of(flow):
        if step["id"] == node:
            return step
    raise EditRefused(NO_SUCH_STEP)


def require_place(flow: Flow, place: Place) -> None:
    """Raise `EditRefused` for a place that the flow does not have."""
    node, port = place
    if place != START and (node == TRIGGER_NODE or port not in ports_in_order(find_step(flow, node))):
        raise EditRefused(NO_SUCH_PLACE)


def add_step(flow: Flow, *, place: Place, step_id: str, type: str, config: Config, prune: bool = False) -> Flow:
    """Put a new step at a place. What stood there follows after the step's first output."""
    require_place(flow, place)
    if len(steps_of(flow)) >= MOST_EDITED_STEPS:
        raise EditRefused(TOO_MANY_STEPS)
    changed, stood = copy.deepcopy(flow), target_of(flow, place)
    step: Step = {"id": step_id, "type": type, "config": copy.deepcopy(config), "next": {}}
    changed["steps"].append(step)
    _put(changed, step, place, stood)
    return _settled(flow, changed, prune)


def change_step(
    flow: Flow, *, node: str, config: Config, origins: Mapping[str, Origins] | None = None, prune: bool = False
) -> Flow:
    """Replace a step's configuration. The branch of a button stays with its button; `origins` says where each was."""
    changed = copy.deepcopy(flow)
    step = find_step(changed, node)
    step["config"] = copy.deepcopy(config)
    declared, ways = STEPS.get(step["type"]), step.get("next", {})
    if declared and declared.port_per and origins and declared.port_per[1] in origins:
        ways = _moved_branches(ways, declared.port_per[0], origins[declared.port_per[1]])
    ports = ports_in_order(step)
    step["next"] = {port: target for port, target in ways.items() if port in ports}
    return _settled(flow, changed, prune)


def _moved_branches(ways: Mapping[str, str], prefix: str, origins: Origins) -> dict[str, str]:
    """Give the edges with new numbers: an item that was the third and is the second now takes its branch along."""
    first: dict[int, int] = {}
    for position, origin in enumerate(origins, 1):
        if origin is not None:
            first.setdefault(origin + 1, position)
    moved: dict[str, str] = {}
    for port, target in ways.items():
        name, _underscore, number = port.rpartition("_")
        if name != prefix or not number.isdigit():
            moved[port] = target
        elif int(number) in first:
            moved[f"{prefix}_{first[int(number)]}"] = target
    return moved


def move_step(flow: Flow, *, node: str, place: Place) -> Flow:
    """Put a step at another place. What followed it closes the gap, its side branches stay with it."""
    require_place(flow, place)
    if place[0] == node:
        raise EditRefused(OWN_PLACE)
    changed = copy.deepcopy(flow)
    step = find_step(changed, node)
    if target_of(changed, place) == node:
        return _settled(flow, changed, prune=False)
    ways = step.setdefault("next", {})
    onward = next((port for port in ports_in_order(step) if ways.get(port, node) != node), "")
    _bypass(changed, node, ways.pop(onward, ""))
    _put(changed, step, place, target_of(changed, place))
    return _settled(flow, changed, prune=False)


def remove_step(flow: Flow, *, node: str, keep: str = "") -> Flow:
    """Remove a step. What followed its output `keep` closes the gap; steps to which nothing leads then go too."""
    changed = copy.deepcopy(flow)
    ways = find_step(changed, node).get("next", {})
    if keep and keep not in ways:
        raise EditRefused(NO_SUCH_PLACE)
    follows = ways.get(keep, "")
    _bypass(changed, node, "" if follows == node else follows)
    changed["steps"] = [step for step in changed["steps"] if step["id"] != node]
    return _settled(flow, changed, prune=True)


def connect(flow: Flow, *, place: Place, target: str, prune: bool = False) -> Flow:
    """Let a place lead to a step that is there already, or to the end (an empty target)."""
    require_place(flow, place)
    changed = copy.deepcopy(flow)
    if target:
        find_step(changed, target)
    _set_target(changed, place, target)
    return _settled(flow, changed, prune)


def change_trigger(flow: Flow, *, type: str, config: Config) -> Flow:
    """Replace what starts the flow."""
    return {**copy.deepcopy(flow), "trigger": {"type": type, "config": copy.deepcopy(config)}}


def steps_lost(before: Flow, after: Flow) -> list[Step]:
    """Give the steps that a change takes out of a flow."""
    kept = {step["id"] for step in steps_of(after)}
    return [step for step in steps_of(before) if step["id"] not in kept]


def _put(flow: Flow, step: Step, place: Place, stood: str) -> None:
    """Put a step at a place, and let what stood there follow it."""
    ports = ports_in_order(step)
    if stood and ports:
        step["next"][ports[0]] = stood
    _set_target(flow, place, step["id"])


def _set_target(flow: Flow, place: Place, target: str) -> None:
    if place == START:
        flow["entry"] = target
        return
    ways = find_step(flow, place[0]).setdefault("next", {})
    if target:
        ways[place[1]] = target
    else:
        ways.pop(place[1], None)


def _bypass(flow: Flow, node: str, follows: str) -> None:
    """Lead every edge to this step to the step that follows it, or nowhere."""
    if flow.get("entry") == node:
        flow["entry"] = follows
    for step in steps_of(flow):
        ways = step.get("next", {}).items()
        if step["id"] != node:
            step["next"] = {port: follows if to == node else to for port, to in ways if to != node or follows}


def _settled(before: Flow, after: Flow, prune: bool) -> Flow:
    """Give a changed flow in reading order if it is still whole. Raises `EditRefused`."""
    lost = {step["id"] for step in steps_of(after)} - reached_steps(after)
    lost -= {step["id"] for step in steps_of(before)} - reached_steps(before)
    if lost and prune:
        after["steps"] = [_without(step, lost) for step in steps_of(after) if step["id"] not in lost]
    elif lost and after.get("entry"):
        raise EditRefused(UNREACHED, [step["id"] for step in steps_of(after) if step["id"] in lost])
    if after.get("entry") not in {step["id"] for step in steps_of(after)}:
        raise EditRefused(NEEDS_A_STEP)
    if loops_without_pause(after) and not loops_without_pause(before):
        raise EditRefused(CIRCLE)
    after["steps"] = in_reading_order(after)
    return after


def _without(step: Step, lost: Collection[str]) -> Step:
    return {**step, "next": {port: to for port, to in step.get("next", {}).items() if to not in lost}}
