"""A flow: `{trigger: {type, config}, entry, steps: [{id, type, config, next: {port: step id}}]}`, and what it tells.

`problems_of` judges a flow; the other functions read a flow that has been judged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from workspaces.automations.flows import requirements
from workspaces.automations.flows.fields import Flaw, Path, judge
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType

Flow = dict[str, Any]

MOST_STEPS = 200
MOST_BYTES = 256 * 1024
DEEPEST = 12
TRIGGER_NODE = "trigger"
STEP_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a flow from being published; `empty` when a field merely waits to be filled in."""

    sentence: str
    node: str = ""
    path: Path = ()
    empty: bool = False


def is_bounded(flow: Any) -> bool:
    """Say whether a flow can be stored at all: an object of a bounded size and depth, of storable text."""
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


def steps_of(flow: Flow) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = flow["steps"]
    return steps


def trigger_type(flow: Flow) -> TriggerType:
    return TRIGGERS[flow["trigger"]["type"]]


def step_type(step: dict[str, Any]) -> StepType:
    return STEPS[step["type"]]


def requires_of(flow: Flow) -> list[str]:
    """Give what a customer needs before this flow can be switched on."""
    needed = set(trigger_type(flow).requires)
    return requirements.in_order(needed.union(*(step_type(step).requires for step in steps_of(flow))))


def has_ai(flow: Flow) -> bool:
    return any(step_type(step).ai for step in steps_of(flow))


def is_catch_all(flow: Flow) -> bool:
    return trigger_type(flow).catch_all


def trigger_label(flow: Flow) -> str:
    return trigger_type(flow).label


def step_title(flow: Flow, node: str) -> str:
    """Give a node as people read it: `Step 3: Ask a question`."""
    if node == TRIGGER_NODE:
        return f"Start: {trigger_label(flow)}"
    position, step = next((at, one) for at, one in enumerate(steps_of(flow), 1) if one["id"] == node)
    return f"Step {position}: {step_type(step).label}"


def shape_problems(flow: Any) -> Iterator[Problem]:
    """Judge what every other look at a flow relies on."""
    if not is_bounded(flow):
        yield Problem("The flow is too large, nested too deeply or holds characters that cannot be stored.")
    elif not isinstance(flow.get("trigger"), dict) or not isinstance(flow["trigger"].get("type"), str):
        yield Problem("The flow needs a trigger.", node=TRIGGER_NODE)
    elif not isinstance(flow.get("steps"), list) or not flow["steps"]:
        yield Problem("The flow needs at least one step.")
    elif len(flow["steps"]) > MOST_STEPS:
        yield Problem(f"A flow may have at most {MOST_STEPS} steps.")
    else:
        yield from (problem for step in flow["steps"] if (problem := _step_shape(step)))


def _step_shape(step: Any) -> Problem | None:
    if not isinstance(step, dict) or not isinstance(step.get("type"), str):
        return Problem("Every step needs a type.")
    if not isinstance(step.get("id"), str) or not STEP_ID.fullmatch(step["id"]) or step["id"] == TRIGGER_NODE:
        return Problem("Every step needs an id of letters, digits, _ and -.")
    ways = step.get("next", {})
    if not isinstance(ways, dict) or not all(isinstance(target, str) for target in ways.values()):
        return Problem("A step's ways out must name other steps.", node=step["id"])
    return None


def field_problems(flow: Flow, platform: str) -> Iterator[Problem]:
    """Judge types, their configuration and whether they exist on this channel type."""
    trigger = TRIGGERS.get(flow["trigger"]["type"])
    yield from _judge(trigger, flow["trigger"], TRIGGER_NODE, platform, "Start")
    for position, step in enumerate(flow["steps"], 1):
        yield from _judge(STEPS.get(step["type"]), step, step["id"], platform, f"Step {position}")


def _judge(
    declared: StepType | TriggerType | None, given: dict[str, Any], node: str, platform: str, where: str
) -> Iterator[Problem]:
    if declared is None:
        yield Problem(f"{where} is of a type that is not known.", node=node)
        return
    title = f"{where} ({declared.label})"
    if platform not in declared.channels:
        yield Problem(f"{title} is not available on this channel type.", node=node)
    for flaw in judge(declared.fields, given.get("config", {})):
        yield Problem(f"{title}: {_words(flaw)}.", node=node, path=flaw.path, empty=flaw.empty)


def _words(flaw: Flaw) -> str:
    name = ".".join(str(part) for part in flaw.path)
    return f"{name} {flaw.sentence}" if name else flaw.sentence
