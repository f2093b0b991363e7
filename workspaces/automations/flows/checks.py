"""The checks that a flow must pass before it is stored or published."""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from workspaces.automations.flows.fields import Flaw, flaws_of
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow
from workspaces.automations.flows.graph import graph_problems
from workspaces.automations.flows.problem import Problem
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType

MOST_STEPS = 200
MOST_BYTES = 256 * 1024
DEEPEST = 12
STEP_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")


def problems_of(flow: object, *, platform: str) -> list[Problem]:
    """Give the problems that keep a flow from being published on this channel type."""
    problems = list(structure_problems(flow))
    if problems or not isinstance(flow, dict):
        return problems
    return [*field_problems(flow, platform), *graph_problems(flow)]


def is_bounded(flow: Any) -> bool:
    """Say whether a flow can be stored: an object within the limits of size and depth, with storable text."""
    if not isinstance(flow, dict) or not _is_shallow(flow):
        return False
    try:
        written = orjson.dumps(flow)
    except (TypeError, ValueError):  # a lone surrogate, a number beyond 64 bits, a key that is no text
        return False
    return len(written) <= MOST_BYTES and b"\\u0000" not in written.replace(b"\\\\", b"")


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [below for one in level for below in _below(one)]
        if not level:
            return True
    return False


def _below(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def structure_problems(flow: Any) -> Iterator[Problem]:
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


def _step_structure_problem(step: Any) -> Problem | None:
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
    declared: StepType | TriggerType | None, given: dict[str, Any], node: str, platform: str, where: str
) -> Iterator[Problem]:
    if declared is None:
        yield Problem(f"{where} is of a type that is not known.", node=node)
        return
    title = f"{where} ({declared.label})"
    if platform not in declared.channels:
        yield Problem(f"{title} is not available on this channel type.", node=node)
    for flaw in flaws_of(declared.fields, given.get("config", {})):
        yield Problem(f"{title}: {_sentence(flaw)}.", node=node, path=flaw.path, empty=flaw.empty)


def _sentence(flaw: Flaw) -> str:
    name = ".".join(str(part) for part in flaw.path)
    return f"{name} {flaw.sentence}" if name else flaw.sentence
