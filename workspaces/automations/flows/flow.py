"""Reading a flow: `{trigger: {type, config}, entry, steps: [{id, type, config, next: {port: step id}}]}`.

Callers must have checked the flow before, see `checks.problems_of`.
"""

import hashlib
from typing import Any

import orjson

from workspaces.automations.flows import requirements
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType

Flow = dict[str, Any]

TRIGGER_NODE = "trigger"


def steps_of(flow: Flow) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = flow["steps"]
    return steps


def trigger_type(flow: Flow) -> TriggerType:
    return TRIGGERS[flow["trigger"]["type"]]


def step_type(step: dict[str, Any]) -> StepType:
    return STEPS[step["type"]]


def requires_of(flow: Flow) -> list[str]:
    """Give the requirements that a customer must meet before this flow can be switched on."""
    needed = set(trigger_type(flow).requires)
    return requirements.in_order(needed.union(*(step_type(step).requires for step in steps_of(flow))))


def has_ai(flow: Flow) -> bool:
    return any(step_type(step).ai for step in steps_of(flow))


def is_catch_all(flow: Flow) -> bool:
    """Say whether the trigger answers every message or comment. A trigger of an unknown type does not."""
    declared = TRIGGERS.get(flow["trigger"]["type"])
    return declared is not None and declared.catch_all


def digest_of(value: Any) -> str:
    """Give a digest of a JSON value that does not depend on the order of its objects' keys."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def trigger_digest(flow: Flow) -> str:
    """Give a digest of the flow's trigger: its type and the non-empty values of its configuration."""
    config = flow["trigger"].get("config") or {}
    narrowing = {name: value for name, value in config.items() if value not in (None, "", [], {}, False)}
    return digest_of([flow["trigger"]["type"], narrowing])


def trigger_label(flow: Flow) -> str:
    return trigger_type(flow).label


def step_title(flow: Flow, node: str) -> str:
    """Give the title of a node for people: `Step 3: Ask a question`."""
    if node == TRIGGER_NODE:
        return f"Start: {trigger_label(flow)}"
    position, step = next((at, one) for at, one in enumerate(steps_of(flow), 1) if one["id"] == node)
    return f"Step {position}: {step_type(step).label}"
