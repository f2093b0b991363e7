"""Runs a flow's steps from one pause to the next, as a pure function."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from workspaces.automations.execution.ai_steps import AI_EXECUTORS
from workspaces.automations.execution.appointment_steps import APPOINTMENT_EXECUTORS, APPOINTMENT_QUESTIONS
from workspaces.automations.execution.contact_steps import CONTACT_EXECUTORS
from workspaces.automations.execution.logic_steps import LOGIC_EXECUTORS
from workspaces.automations.execution.message_steps import MESSAGE_EXECUTORS
from workspaces.automations.execution.outside_steps import OUTSIDE_EXECUTORS
from workspaces.automations.execution.payment_steps import PAYMENT_EXECUTORS
from workspaces.automations.execution.question_steps import QUESTION_EXECUTORS, QUESTIONS
from workspaces.automations.execution.questions import Question
from workspaces.automations.execution.running import (
    ERRORS,
    EXPIRED,
    Execution,
    Executor,
    Failure,
    Leave,
    Outcome,
    Pause,
    StepFailed,
    wait_for_turn,
)
from workspaces.automations.execution.types import (
    MOST_STATE_BYTES,
    MOST_STEPS,
    MOST_STEPS_AT_ONCE,
    DoneStep,
    Option,
    Progress,
    Replied,
    RunContext,
    RunError,
    RunEvent,
    RunState,
    RunStatus,
    TimedOut,
    Wait,
    WaitKind,
)
from workspaces.automations.flows.flow import Flow

EXECUTORS: Final[Mapping[str, Executor]] = {
    **MESSAGE_EXECUTORS,
    **QUESTION_EXECUTORS,
    **LOGIC_EXECUTORS,
    **CONTACT_EXECUTORS,
    **AI_EXECUTORS,
    **OUTSIDE_EXECUTORS,
    **APPOINTMENT_EXECUTORS,
    **PAYMENT_EXECUTORS,
}
ALL_QUESTIONS: Final[Mapping[str, Question]] = {**QUESTIONS, **APPOINTMENT_QUESTIONS}


def begin_state(flow: Flow, *, token: str, values: Mapping[str, Mapping[str, str]] | None = None) -> RunState:
    """Give the state in which a run begins: at the flow's entry. `values` are those of the fact that started it."""
    return RunState(token=token, node=flow["entry"], values=values or {})


def state_from_row(
    *,
    token: str,
    node: str,
    seq: int,
    messages: int,
    data: Mapping[str, Any],
    wait_kind: str | None,
    wait_key: str,
    wait_until: datetime | None,
) -> RunState:
    """Read a run's state from the columns of its row. A run that waits for the engine (`begin`) begins its node."""
    wait = None
    if wait_kind and wait_kind != "begin" and wait_until is not None:
        wait = Wait(WaitKind(wait_kind), wait_until, wait_key)
    return RunState(
        token=token,
        node=node,
        seq=seq,
        messages=messages,
        repeats=data.get("repeats", 0),
        turns=data.get("turns", 0),
        answers=data.get("answers", {}),
        ai=data.get("ai", {}),
        values=data.get("values", {}),
        wait=wait,
    )


def advance(flow: Flow, state: RunState, event: RunEvent, context: RunContext) -> Progress:
    """Run steps until one waits, ends or needs another system, and give what follows.

    The same arguments give the same result: random splits are drawn from the run's token and the step's number. An
    event for which the run does not wait changes nothing.
    """
    run = Execution.of(flow, state, event, context)
    outcome = _do(run, None) if state.wait is None else _resume(run, state.wait, event)
    if outcome is None:
        return Progress(state, RunStatus.WAITING)
    while True:
        if isinstance(outcome, Pause) and _is_too_large(run, outcome):
            outcome = Failure("too_much_data")
        _record(run, outcome)
        if isinstance(outcome, Pause):
            return Progress(run.new_state(outcome.wait), RunStatus.WAITING, tuple(run.done))
        if isinstance(outcome, Failure):
            return _failed(run, outcome)
        target = (run.steps[run.node].get("next") or {}).get(outcome.port)
        if target is None:
            return Progress(run.new_state(None), RunStatus.COMPLETED, tuple(run.done))
        run.node, run.repeats, run.turns = target, 0, 0
        outcome = _do(run, None) or Failure("missing_step")


def accepts_reply(flow: Flow, state: RunState, reply: Replied, context: RunContext) -> bool:
    """Say whether the step that waits for an answer would understand this one. Nothing is done."""
    if state.wait is None or not state.wait.listens:
        return False
    run, question = _waiting_question(flow, state, reply, context)
    return question is None or question.read(run, run.config, reply) is not None


def options_of(flow: Flow, state: RunState, context: RunContext) -> tuple[Option, ...]:
    """Give the options of the question that a run waits at, with the ports that their payloads carry.

    They are not always ports of the step: those of a rating are `rating_5` to `rating_1`.
    """
    run, question = _waiting_question(flow, state, TimedOut(), context)
    return question.options(run, run.config) if question else ()


def _waiting_question(
    flow: Flow, state: RunState, event: RunEvent, context: RunContext
) -> tuple[Execution, Question | None]:
    run = Execution.of(flow, state, event, context)
    return run, ALL_QUESTIONS.get(run.steps[state.node]["type"]) if state.node in run.steps else None


def _resume(run: Execution, wait: Wait, event: RunEvent) -> Outcome | None:
    if wait.kind is not WaitKind.TURN:
        return _do(run, event)
    if run.context.may_listen:
        return _do(run, None)
    is_over = isinstance(event, TimedOut) and run.context.now >= wait.until
    return Leave(port="", detail=EXPIRED) if is_over else None


def _do(run: Execution, event: RunEvent | None) -> Outcome | None:
    """Begin the step, or go on with it if there is an event. None says that the step does not wait for this event."""
    if len(run.done) >= MOST_STEPS_AT_ONCE or run.seq >= MOST_STEPS:
        return Failure("too_many_steps")
    step = run.steps.get(run.node)
    if step is None:
        return Failure("missing_step")
    executor = EXECUTORS.get(step["type"])
    if executor is None:
        return Failure("step_unavailable")
    try:
        if event is not None:
            return executor.resume(run, run.config, event) if executor.resume else None
        if executor.listens and not run.context.may_listen:
            return wait_for_turn(run)
        return executor.begin(run, run.config)
    except StepFailed as error:
        return Failure(error.code)


def _record(run: Execution, outcome: Outcome) -> None:
    """Add the step to those that were done. A step that failed has no effects."""
    run.seq += 1
    if isinstance(outcome, Failure):
        run.drop_effects()
    effects = tuple(run.effects)
    port = outcome.port if isinstance(outcome, Leave) else ""
    detail = outcome.code if isinstance(outcome, Failure) else outcome.detail
    run.done.append(DoneStep(run.seq, run.node, port, effects, detail))
    run.effects = []


def _failed(run: Execution, failure: Failure) -> Progress:
    error = RunError(failure.code, run.node, ERRORS[failure.code])
    return Progress(run.new_state(None), RunStatus.FAILED, tuple(run.done), error)


def _is_too_large(run: Execution, pause: Pause) -> bool:
    return len(orjson.dumps(run.new_state(pause.wait).to_json())) > MOST_STATE_BYTES
