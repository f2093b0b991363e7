"""Runs a flow's steps from one pause to the next, as a pure function."""

from workspaces.automations.execution.types import Progress, RunContext, RunEvent, RunState
from workspaces.automations.flows.flow import Flow


def begin_state(flow: Flow, *, token: str) -> RunState:
    """Give the state in which a run begins: at the flow's entry."""
    return RunState(token=token, node=flow["entry"])


def advance(flow: Flow, state: RunState, event: RunEvent, context: RunContext) -> Progress:
    """Run steps until one waits, ends or needs another system, and give what follows.

    The same arguments give the same result: random splits are drawn from the run's token and the step's number.
    """
    raise NotImplementedError
