"""Every flow of the library either says why it cannot run, or runs through each of its ports to an end."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from packs.library.loading import library
from tests.workspaces.automations.execution.running_flows import ANA, CONTEXT, checked, effects_of, ports_of
from workspaces.automations.execution.appointment_steps import CHOICE
from workspaces.automations.execution.internal_calls import InternalCall
from workspaces.automations.execution.interpreter import begin_state, options_of
from workspaces.automations.execution.samples import sample_result
from workspaces.automations.execution.types import (
    CallEnded,
    Happened,
    Progress,
    Replied,
    RunContext,
    RunEvent,
    RunState,
    RunStatus,
    Started,
    TimedOut,
    WaitKind,
)
from workspaces.automations.flows.availability import SENDING_PLATFORMS, can_run, reasons_unavailable
from workspaces.automations.flows.flow import Flow
from workspaces.automations.flows.registry import STEPS

ITEMS = library().items
RUNNABLE = {
    name: platform
    for name, item in ITEMS.items()
    for platform in item.channels
    if platform in SENDING_PLATFORMS and can_run(item.flow, platform)
}
ANSWERS = {
    "text": ["A long story"],
    "number": ["3", "400"],
    "email": ["ana@mail.example"],
    "phone": ["+49 151 23456789"],
    "date": ["2026-12-24"],
}
WRONG = Replied("?!")
LATE = CallEnded(ok=False, code="timeout")
# A run may begin with what happened, such as an appointment.
APPOINTMENT = {"appointment": {"date": "2026-12-24", "id": "a-1", "starts_at": "2026-12-24T10:00:00+00:00"}}
TAKEN = CallEnded(ok=False, code="time_taken")
CLOSED = {"sunday": [["09:00", "09:01"]]}
READS_OPENING_HOURS = {"wait_until", "working_hours"}
MOST_STATES = 3_000


RUN = [
    "automotive-breakdown-help",
    "automotive-test-drive",
    "automotive-trade-in",
    "automotive-workshop-booking",
    "cleaning-extra-jobs",
    "cleaning-quote-request",
    "ecommerce-returns-desk",
    "education-course-finder",
    "education-student-helpdesk",
    "education-trial-lesson",
    "events-celebration-enquiry",
    "events-deposit-received",
    "events-message-desk",
    "events-show-talk-comments",
    "events-tickets-by-comment",
    "healthcare-appointment-request",
    "healthcare-before-first-visit",
    "healthcare-out-of-hours",
    "healthcare-repeat-prescription",
    "professional-after-hours",
    "professional-front-desk",
    "professional-guide-by-comment",
    "professional-stop-messages",
    "real-estate-evening-enquiries",
    "real-estate-new-homes-list",
    "real-estate-valuation-request",
    "real-estate-viewing-from-ad",
    "restaurants-answer-every-comment",
    "restaurants-menu-hours-way",
    "restaurants-table-booking",
    "restaurants-waiting-list",
    "salons-booking-assistant",
    "salons-every-comment",
    "salons-short-notice-list",
    "salons-story-reply-stylist",
]
# How many of the other flows each reason bars.
BARRED = {
    "Automations cannot send messages on Google Business Profile yet.": 4,
    "Automations cannot send messages on SMS yet.": 12,
    "Automations cannot send messages on Telegram yet.": 6,
    "Automations cannot send messages on live chat yet.": 2,
    "Calls are not available yet": 1,
    "Discounts are not available yet": 4,
    "Forms are not available yet": 1,
    "New followers are not reported yet": 1,
    "No template is chosen": 10,
    "Orders are not available yet": 9,
    "Reviews and questions of a business profile are not available yet": 4,
    "Sending products is not available yet": 6,
    "The chat for websites is not available yet": 2,
}


def _platform(channels: list[str]) -> str:
    return next((one for one in channels if one in SENDING_PLATFORMS), channels[0])


def test_which_flows_run_and_why_the_others_do_not() -> None:
    assert sorted(RUNNABLE) == RUN
    barred: dict[str, int] = {}
    for name, item in ITEMS.items():
        if name not in RUNNABLE:
            reasons = {reason.partition(" (")[0] for reason in reasons_unavailable(item.flow, _platform(item.channels))}
            assert reasons, name
            for reason in reasons:
                barred[reason] = barred.get(reason, 0) + 1
    assert barred == BARRED


def test_a_reason_names_the_first_part_of_the_flow_to_which_it_applies() -> None:
    flow = ITEMS["cleaning-was-it-spotless"].flow
    assert reasons_unavailable(flow, "whatsapp") == ["No template is chosen (Step 2: Send a template)."]
    assert reasons_unavailable(flow, "telegram")[0] == "Automations cannot send messages on Telegram yet."


def contexts(flow: Flow, platform: str) -> Iterator[RunContext]:
    """Give each combination of what a flow's conditions read: all of its tags or none, open or closed."""
    tags = frozenset(str(step["config"]["tag"]).casefold() for step in flow["steps"] if step["type"] == "has_tag")
    reads_hours = any(step["type"] in READS_OPENING_HOURS for step in flow["steps"])
    for held in {frozenset[str](), tags}:
        for hours in ({}, CLOSED) if reads_hours else ({},):
            yield replace(CONTEXT, platform=platform, contact=replace(ANA, tags=held), opening_hours=hours)


def events_for(flow: Flow, progress: Progress, context: RunContext) -> list[RunEvent]:
    """Give the events that lead a waiting run through each of its ports."""
    state = progress.state
    step = next(step for step in flow["steps"] if step["id"] == state.node)
    config: dict[str, Any] = step.get("config") or {}
    assert state.wait is not None
    if state.wait.kind is WaitKind.TIME:
        return [TimedOut()]
    if state.wait.kind is WaitKind.EVENT:
        return [TimedOut(), Happened(state.wait.key.partition(":")[0])]
    own_calls = [effect for effect in effects_of(progress) if isinstance(effect, InternalCall)]
    if own_calls:
        return [LATE, TAKEN, sample_result(own_calls[-1], context)]
    if state.wait.kind is WaitKind.CALL:
        return [LATE, *(CallEnded(ok=True, result=result) for result in _results(step["type"], config))]
    offered = [Replied("…", port=option.port) for option in options_of(flow, state, context)]
    return [TimedOut(), WRONG, *offered, *_replies(step["type"], config)]


def _replies(type: str, config: dict[str, Any]) -> Iterator[RunEvent]:
    for port in STEPS[type].ports_of(config):
        yield Replied("…", port=port)
    if type == "ask_question":
        yield from (Replied(text) for text in ANSWERS.get(config["expects"], []))
        yield Replied("", "image", media="m-1")
    if type == "ask_rating":
        yield from (Replied("5"), Replied("1"))


def _results(type: str, config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if type == "ai_classify":
        yield from ({"topic": f"topic_{number}"} for number in range(1, len(config["topics"]) + 1))
    elif type == "ai_extract":
        yield {detail["save_as"]: "12" for detail in config["details"]}
    else:
        yield {"answer": "At 1 High Street.", "facts": ["address"]}


def silence_ends(flow: Flow, state: RunState, context: RunContext) -> bool:
    """Say whether a run ends if nobody ever answers."""
    for _ in flow["steps"]:
        progress = checked(flow, state, TimedOut(), context)
        if progress.status is RunStatus.COMPLETED:
            return True
        state = progress.state
    return False


def walk(flow: Flow, platform: str) -> Iterator[Progress]:
    """Go on from every state that the flow can reach, with every event."""
    starts_with = flow["trigger"]["type"].startswith("appointment_")
    facts = (APPOINTMENT,) if starts_with else ({}, APPOINTMENT) if "appointment.date" in str(flow) else ({},)
    tokens = range(8 if any(step["type"] == "split" for step in flow["steps"]) else 1)
    for context in contexts(flow, platform):
        ahead: list[tuple[RunState, RunEvent]] = [
            (begin_state(flow, token=f"{number:032x}", values=values), Started())
            for number in tokens
            for values in facts
        ]
        seen: set[object] = set()
        while ahead:
            state, event = ahead.pop()
            progress = checked(flow, state, event, context)
            yield progress
            left = progress.state
            waits_for = left.wait and left.wait.kind
            place = (left.token, *left.values, left.node, waits_for)
            chosen = left.values.get(CHOICE, {})
            choice = (chosen.get("asks"), chosen.get("awaits"), bool(chosen.get("after")))
            key = (*place, *choice, left.repeats, left.turns, *sorted(left.answers.items()))
            if left.wait and key not in seen:
                seen.add(key)
                assert silence_ends(flow, left, context)
                ahead += [(left, one) for one in events_for(flow, progress, context)]
            assert len(seen) <= MOST_STATES


@pytest.mark.parametrize("name", sorted(RUNNABLE))
def test_a_flow_of_the_library_runs_through_each_port_and_always_ends(name: str) -> None:
    flow = ITEMS[name].flow
    progresses = [*walk(flow, RUNNABLE[name])]
    assert [progress.error for progress in progresses if progress.error] == []
    declared = {
        (step["id"], port) for step in flow["steps"] for port in STEPS[step["type"]].ports_of(step.get("config") or {})
    }
    assert declared - ports_of(progresses) == set()
