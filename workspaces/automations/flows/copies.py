"""Copies of flows. A copy is rebuilt from the fields that the registry declares, and leaves out everything else."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from workspaces.automations.flows.checks import problems_of, structure_problems
from workspaces.automations.flows.fields import ClearedValue, sanitize, validate_fields
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, Node, step_title, step_type, steps_of, trigger_type
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType


@dataclass(frozen=True, slots=True)
class Slot:
    """A cleared value that each customer fills in: `path` below the node's config, `label` and `step` for people."""

    node: str
    path: str
    label: str
    step: str

    @property
    def sentence(self) -> str:
        return f"{self.step} ({self.label})"

    def plain(self) -> dict[str, str]:
        return asdict(self)


def reasons_not_copyable(flow: Flow, *, platform: str) -> list[str]:
    """Give the reasons, in sentences, why a published flow cannot be copied."""
    barred = list(_not_copyable(flow))
    if barred:
        return barred
    if problems_of(flow, platform=platform):
        return ["This automation no longer passes the checks. Open it, correct it and publish it again."]
    return []


def _not_copyable(flow: Flow) -> Iterator[str]:
    trigger = TRIGGERS.get(flow["trigger"]["type"])
    if trigger is None:
        yield "The start is of a type that is not known, so it cannot go into a pack."
    elif trigger.barred:
        yield f"The start ({trigger.label}) {trigger.barred}, so it cannot go into a pack."
    for position, step in enumerate(steps_of(flow), 1):
        declared = STEPS.get(step["type"])
        if declared is None:
            yield f"Step {position} is of a type that is not known, so it cannot go into a pack."
        elif declared.barred:
            yield f"Step {position} ({declared.label}) {declared.barred}, so it cannot go into a pack."


def can_be_sanitized(flow: Flow) -> bool:
    """Say whether `sanitized_copy` can read a flow.

    Its types must be known, its edges lead to steps, and its values be valid or empty.
    """
    if any(structure_problems(flow)):
        return False
    steps = {step["id"]: step for step in steps_of(flow)}
    ways = {target for step in steps_of(flow) for target in step.get("next", {}).values()}
    return (
        len(steps) == len(steps_of(flow))
        and steps.keys() >= ways | {flow.get("entry")}
        and _values_fit(TRIGGERS.get(flow["trigger"]["type"]), flow["trigger"])
        and all(_values_fit(STEPS.get(step["type"]), step) for step in steps_of(flow))
    )


def _values_fit(declared: StepType | TriggerType | None, given: Node) -> bool:
    if declared is None:
        return False
    return all(
        error.empty and len(error.path) == 1 for error in validate_fields(declared.fields, given.get("config", {}))
    )


def sanitized_copy(flow: Flow) -> tuple[Flow, list[Slot]]:
    """Give a copy of a valid flow that may leave the workspace, and its slots for the cleared values.

    Steps get new ids, because the old ids were chosen by a person and may be private.
    """
    numbers = {step["id"]: f"step_{position}" for position, step in enumerate(steps_of(flow), 1)}
    config, gone = sanitize(trigger_type(flow).fields, flow["trigger"].get("config", {}))
    kept: Flow = {
        "trigger": {"type": trigger_type(flow).name, "config": config},
        "entry": numbers[flow["entry"]],
        "steps": [],
    }
    cleared: list[tuple[str, ClearedValue]] = [(TRIGGER_NODE, one) for one in gone]
    for step in steps_of(flow):
        declared, node = step_type(step), numbers[step["id"]]
        config, gone = sanitize(declared.fields, step.get("config", {}))
        ports = declared.ports_of(config)
        ways = {port: numbers[target] for port, target in step.get("next", {}).items() if port in ports}
        kept["steps"].append({"id": node, "type": declared.name, "config": config, "next": ways})
        cleared += [(node, one) for one in gone]
    return kept, [_slot(kept, node, one) for node, one in cleared]


def _slot(flow: Flow, node: str, cleared: ClearedValue) -> Slot:
    path = ".".join(str(part) for part in cleared.path)
    return Slot(node=node, path=path, label=cleared.label, step=step_title(flow, node))
