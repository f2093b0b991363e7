"""Runs flows for tests, and checks what must hold of every progress."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from workspaces.automations.execution.interpreter import advance, begin_state, state_from_row
from workspaces.automations.execution.types import (
    MOST_MESSAGES,
    MOST_STATE_BYTES,
    MOST_STEPS_AT_ONCE,
    ContactValues,
    Effect,
    Progress,
    RunContext,
    RunEvent,
    RunState,
    RunStatus,
    SendMessage,
    Started,
)
from workspaces.automations.flows.flow import Flow

TOKEN = "a1" * 16
# A Monday.
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANA = ContactValues(name="Ana Lee", phone="+4915123456789", city="Berlin")
SETTINGS = {
    "name": "Corner Salon",
    "address": "1 High Street",
    "phone": "+4930123456",
    "website": "https://salon.example/",
    "booking_link": "https://salon.example/book",
    "review_link": "https://salon.example/review",
    "menu_link": "https://salon.example/menu",
    "opening_hours": "Mon 09:00-17:00",
}
CONTEXT = RunContext(now=NOW, platform="whatsapp", contact=ANA, settings=SETTINGS)


def steps_taken(progress: Progress) -> list[tuple[str, str]]:
    return [(step.node, step.port) for step in progress.steps]


def effects_of(progress: Progress) -> list[Effect]:
    return [effect for step in progress.steps for effect in step.effects]


def messages_of(progress: Progress) -> list[SendMessage]:
    return [effect for effect in effects_of(progress) if isinstance(effect, SendMessage)]


def texts_of(progress: Progress) -> list[str]:
    return [message.text for message in messages_of(progress)]


def row_of(state: RunState) -> dict[str, Any]:
    """The columns of a run's row, with its JSON as a database gives it back."""
    return {
        "token": state.token,
        "node": state.node,
        "seq": state.seq,
        "messages": state.messages,
        "data": json.loads(json.dumps(state.to_json())),
        "wait_kind": state.wait.kind.value if state.wait else None,
        "wait_key": state.wait.key if state.wait else "",
        "wait_until": state.wait.until if state.wait else None,
    }


def checked(flow: Flow, state: RunState, event: RunEvent, context: RunContext) -> Progress:
    """Advance, and check what must hold of every progress."""
    progress = advance(flow, state, event, context)
    assert advance(flow, state, event, context) == progress, "the same input gave another output"
    done = [step.seq for step in progress.steps]
    assert done == [*range(state.seq + 1, state.seq + 1 + len(done))]
    assert progress.state.seq == state.seq + len(done)
    assert len(done) <= MOST_STEPS_AT_ONCE + 1
    assert progress.state.messages == state.messages + len(messages_of(progress)) <= MOST_MESSAGES
    assert (progress.state.wait is not None) == (progress.status is RunStatus.WAITING)
    assert (progress.error is not None) == (progress.status is RunStatus.FAILED)
    if progress.state.wait and progress.steps:
        assert progress.state.wait.until > context.now
        assert len(json.dumps(progress.state.to_json(), separators=(",", ":"), ensure_ascii=False)) <= MOST_STATE_BYTES
    assert state_from_row(**row_of(progress.state)) == progress.state
    return progress


def run(flow: Flow, *events: RunEvent, context: RunContext = CONTEXT, **changes: Any) -> Progress:
    """Begin a run and give it these events one after the other. The result is the last progress."""
    context = replace(context, **changes)
    progress = checked(flow, begin_state(flow, token=TOKEN), Started(), context)
    for event in events:
        progress = checked(flow, progress.state, event, context)
    return progress


def ports_of(progresses: Iterable[Progress]) -> set[tuple[str, str]]:
    return {(step.node, step.port) for progress in progresses for step in progress.steps if step.port}


Config = Mapping[str, Any]
