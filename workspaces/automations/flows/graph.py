"""Checks of a flow's graph: one entry, no dangling edge, no unreachable step, no loop without a step that waits."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from workspaces.automations.flows.flow import Flow
from workspaces.automations.flows.problem import Problem
from workspaces.automations.flows.registry import STEPS


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
    reached = _reached(flow)
    for position, node in enumerate(steps, 1):
        if node not in reached:
            yield Problem(f"Step {position} cannot be reached.", node=node)
    if _loops_without_pause(flow):
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


def _reached(flow: Flow) -> set[str]:
    steps = {step["id"]: step for step in flow["steps"]}
    reached: set[str] = set()
    ahead = [flow["entry"]]
    while ahead:
        node = ahead.pop()
        if node in steps and node not in reached:
            reached.add(node)
            ahead += steps[node].get("next", {}).values()
    return reached


def _loops_without_pause(flow: Flow) -> bool:
    restless = {
        step["id"]: step for step in flow["steps"] if not (declared := STEPS.get(step["type"])) or not declared.waits
    }
    edges = {node: [to for to in step.get("next", {}).values() if to in restless] for node, step in restless.items()}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError:
        return True
    return False
