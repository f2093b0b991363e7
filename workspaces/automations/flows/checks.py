"""The checks that a flow must pass before it is stored or published, and the problems that they find."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeGuard, cast

import orjson

from workspaces.automations.flows.fields import FieldError, Path, validate_fields
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, Node
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that keeps a flow from being published. `empty` says that a field is only not filled in yet."""

    sentence: str
    node: str = ""
    path: Path = ()
    empty: bool = False


def graph_problems(flow: Flow) -> Iterator[Problem]:
    """Check the entry and the edges between the steps."""
    steps = {step["id"]: step for step in flow["steps"]}
    if len(steps) != len(flow["steps"]):
        yield Problem("Two steps have the same id.")
        return
    if not isinstance(flow.get("entry"), str) or flow["entry"] not in steps:
        yield Problem("The flow's entry must be one of its steps.")
        return
    yield from _edge_problems(flow, set(steps))
    reached = reached_steps(flow)
    for position, node in enumerate(steps, 1):
        if node not in reached:
            yield Problem(f"Step {position} cannot be reached.", node=node)
    if loops_without_pause(flow):
        yield Problem("The flow runs in a circle without a step that waits.")


def _edge_problems(flow: Flow, nodes: set[str]) -> Iterator[Problem]:
    for position, step in enumerate(flow["steps"], 1):
        declared, config = STEPS.get(step["type"]), step.get("config", {})
        ports = declared.ports_of(config) if declared and isinstance(config, dict) else set()
        for port, target in step.get("next", {}).items():
            if target not in nodes:
                yield Problem(f"Step {position} leads to a step that is not there.", node=step["id"])
            elif port not in ports:
                yield Problem(f"Step {position} has no such way out.", node=step["id"])


def reached_steps(flow: Flow) -> set[str]:
    """Give the ids of the steps to which a way leads from the entry."""
    steps = {step["id"]: step for step in flow["steps"]}
    reached: set[str] = set()
    ahead = [flow["entry"]] if isinstance(flow.get("entry"), str) else []
    while ahead:
        node = ahead.pop()
        if node in steps and node not in reached:
            reached.add(node)
            ahead += steps[node].get("next", {}).values()
    return reached


def loops_without_pause(flow: Flow) -> bool:
    """Say whether the flow can run in a circle without a step that waits."""
    restless = {
        step["id"]: step for step in flow["steps"] if not (declared := STEPS.get(step["type"])) or not declared.waits
    }
    edges = {node: [to for to in step.get("next", {}).values() if to in restless] for node, step in restless.items()}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError:
        return True
    return False


MOST_STEPS = 200
MOST_BYTES = 256 * 1024
MAX_DEPTH = 12
STEP_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")


def problems_of(flow: object, *, platform: str) -> list[Problem]:
    """Give the problems that keep a flow from being published on this channel type."""
    problems = list(structure_problems(flow))
    if problems:
        return problems
    checked = cast(Flow, flow)  # It has the structure.
    return [*field_problems(checked, platform), *graph_problems(checked)]


def is_publishable(flow: object, *, platform: str) -> TypeGuard[Flow]:
    """Say whether a value is a flow that can be published on this channel type."""
    return not problems_of(flow, platform=platform)


def is_bounded(flow: object) -> TypeGuard[dict[str, Any]]:
    """Say whether a flow can be stored: an object within the limits of size and depth, with storable text."""
    if not isinstance(flow, dict) or not _is_shallow(flow):
        return False
    try:
        written = orjson.dumps(flow)
    except (TypeError, ValueError):  # a lone surrogate, a number beyond 64 bits, a key that is no text
        return False
    return len(written) <= MOST_BYTES and b"\\u0000" not in written.replace(b"\\\\", b"")


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [below for one in level for below in _below(one)]
        if not level:
            return True
    return False


def _below(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def structure_problems(flow: object) -> Iterator[Problem]:
    """Check the structure on which all other functions that read a flow rely."""
    if not is_bounded(flow):
        yield Problem("The flow is too large, nested too deeply or holds characters that cannot be stored.")
    elif not isinstance(flow.get("trigger"), dict) or not isinstance(flow["trigger"].get("type"), str):
        yield Problem("The flow needs a trigger.", node=TRIGGER_NODE)
    elif not isinstance(flow.get("steps"), list) or not flow["steps"]:
        yield Problem("The flow needs at least one step.")
    elif len(flow["steps"]) > MOST_STEPS:
        yield Problem(f"A flow may have at most {MOST_STEPS} steps.")
    else:
        yield from (problem for step in flow["steps"] if (problem := _step_structure_problem(step)))


def _step_structure_problem(step: object) -> Problem | None:
    if not isinstance(step, dict) or not isinstance(step.get("type"), str):
        return Problem("Every step needs a type.")
    if not isinstance(step.get("id"), str) or not STEP_ID.fullmatch(step["id"]) or step["id"] == TRIGGER_NODE:
        return Problem("Every step needs an id of letters, digits, _ and -.")
    ways = step.get("next", {})
    if not isinstance(ways, dict) or not all(isinstance(target, str) for target in ways.values()):
        return Problem("A step's ways out must name other steps.", node=step["id"])
    return None


def field_problems(flow: Flow, platform: str) -> Iterator[Problem]:
    """Check the types of the trigger and the steps, their configuration, and their support for this channel type."""
    trigger = TRIGGERS.get(flow["trigger"]["type"])
    yield from _config_problems(trigger, flow["trigger"], TRIGGER_NODE, platform, "Start")
    for position, step in enumerate(flow["steps"], 1):
        yield from _config_problems(STEPS.get(step["type"]), step, step["id"], platform, f"Step {position}")


def _config_problems(
    declared: StepType | TriggerType | None, given: Node, node: str, platform: str, where: str
) -> Iterator[Problem]:
    if declared is None:
        yield Problem(f"{where} is of a type that is not known.", node=node)
        return
    title = f"{where} ({declared.label})"
    if platform not in declared.channels:
        yield Problem(f"{title} is not available on this channel type.", node=node)
    for error in validate_fields(declared.fields, given.get("config", {})):
        yield Problem(f"{title}: {_sentence(error)}.", node=node, path=error.path, empty=error.empty)


def _sentence(error: FieldError) -> str:
    name = ".".join(str(part) for part in error.path)
    return f"{name} {error.sentence}" if name else error.sentence
