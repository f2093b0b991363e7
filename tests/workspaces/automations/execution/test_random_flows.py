"""Whatever the flow and whatever happens, a run keeps its rules."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sizes import FULL_SIZE
from tests.workspaces.automations.execution.running_flows import ANA, CONTEXT, TOKEN, checked, effects_of
from workspaces.automations.execution.interpreter import begin_state
from workspaces.automations.execution.types import (
    CallAi,
    CallEnded,
    Happened,
    Progress,
    Replied,
    RunContext,
    RunEvent,
    RunStatus,
    Started,
    TimedOut,
)
from workspaces.automations.flows import fields as kinds
from workspaces.automations.flows.checks import problems_of
from workspaces.automations.flows.flow import Flow, Step
from workspaces.automations.flows.registry import STEPS
from workspaces.automations.flows.types import StepType

# The workspace's name never stands in a flow's texts. It is seen only if a value's braces were written again.
SECRET = "written-twice"
NASTY = "{{workspace.name}} {{contact.name}} {{answers.a}} \x00 %s {0}"
TEXTS = st.sampled_from(
    ["Hi {{contact.name}}!", "{{answers.a}} {{answers.b}}", "{{message.text}}", "{{ai.answer}}{{ai.topic}}", "Ok"]
)
VALUES = {"url": "https://x.example/?a={{answers.a}}", "phone": "+49301234567", "email": "a@x.example"}
PLATFORMS = ("whatsapp", "facebook", "instagram")
RESULTS: list[dict[str, Any]] = [
    {},
    {"topic": "topic_1"},
    {"topic": 7},
    {"answer": "Sure.", "facts": ["address"]},
    {"answer": NASTY, "facts": ["address"]},
    {"answer": [], "facts": {}, "unsure": None},
    {"a": "1", "b": None},
    {"a": NASTY, "b": NASTY},
    {"status": 200, "text": NASTY},
    {"status": "x"},
]
EVENTS: st.SearchStrategy[RunEvent] = st.one_of(
    st.sampled_from([TimedOut(), TimedOut(), Started(), Happened("payment"), CallEnded(ok=False, code="timeout")]),
    st.sampled_from(RESULTS).map(lambda result: CallEnded(ok=True, result=result)),
    st.builds(
        Replied,
        text=st.sampled_from(["1", "yes", "no", "Ok", NASTY, "", "a@x.example", "2026-12-24"]) | st.text(max_size=30),
        port=st.sampled_from(["", "", "button_1", "option_2", "row_1", "reply_9", "rating_5", "rating_x", "agreed"]),
        media=st.sampled_from(["", "m-1"]),
    ),
)


class Drawing:
    """Draws a step's configuration from the fields that the registry declares."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def config(self, fields: tuple[kinds.Field, ...]) -> dict[str, Any]:
        used = [field for field in fields if field.required or self.draw(st.booleans())]
        return {field.name: self.value(field) for field in used}

    def value(self, field: kinds.Field) -> Any:
        match field:
            case kinds.Text():
                text: str = self.draw(TEXTS)
                return text if len(text) <= field.most else "Ok"
            case kinds.CustomerValue():
                return VALUES.get(field.of, "id-1")
            case kinds.ListOf():
                return [self._item(field) for _ in range(self.draw(st.integers(1, min(4, field.most))))]
        return self._simple(field)

    def _simple(self, field: kinds.Field) -> Any:
        match field:
            case kinds.Choice():
                return self.draw(st.sampled_from(field.options))
            case kinds.Number():
                return self.draw(st.integers(field.least, field.most))
            case kinds.Name():
                return self.draw(st.sampled_from(["a", "b"]))
            case kinds.Variable():
                return self.draw(st.sampled_from(["answers.a", "contact.city", "fields.b"]))
        return self.draw(st.booleans()) if isinstance(field, kinds.Boolean) else "account-1"

    def _item(self, field: kinds.ListOf) -> Any:
        return self.value(field.plain) if field.plain else self.config(field.of)


@st.composite
def valid_flows(draw: Any, platform: str, of: Collection[str] = STEPS.keys(), least: int = 1) -> Flow:
    """A valid flow of some types of steps. An earlier one leads to each, and a step that waits may be gone back to."""
    types = [declared for declared in STEPS.values() if platform in declared.channels and declared.name in of]
    drawn: list[StepType] = draw(st.lists(st.sampled_from(types), min_size=least, max_size=7))
    steps: list[Step] = []
    free: list[tuple[Step, str]] = []
    for number, declared in enumerate(drawn):
        config = Drawing(draw).config(declared.fields)
        step: Step = {"id": f"s{number}", "type": declared.name, "config": config, "next": {}}
        if steps and not free:
            break
        if steps:
            before, port = free.pop(draw(st.integers(0, len(free) - 1)))
            before["next"][port] = step["id"]
        steps.append(step)
        free += [(step, port) for port in sorted(declared.ports_of(config))]
    waiting = [step["id"] for step in steps if STEPS[step["type"]].waits]
    for step, port in free:
        if waiting and draw(st.booleans()):
            step["next"][port] = draw(st.sampled_from(waiting))
    return {"trigger": {"type": "any_message", "config": {}}, "entry": "s0", "steps": steps}


@st.composite
def stories(draw: Any) -> tuple[Flow, RunContext, list[tuple[RunEvent, RunContext]]]:
    """A flow with what happens to a run of it, one event after the other."""
    platform = draw(st.sampled_from(PLATFORMS))
    contact = replace(
        ANA, name=NASTY, fields={"b": NASTY}, tags=draw(st.sampled_from([frozenset[str](), frozenset({"ok"})]))
    )
    context = replace(CONTEXT, platform=platform, contact=contact, settings={**CONTEXT.settings, "name": SECRET})
    happened: list[tuple[RunEvent, RunContext]] = []
    at = context.now
    for event in draw(st.lists(EVENTS, max_size=25)):
        at += timedelta(minutes=draw(st.sampled_from([0, 1, 60 * 24])))
        happened.append((event, replace(context, now=at, may_listen=draw(st.sampled_from([True, True, True, False])))))
    return draw(valid_flows(platform)), context, happened


@given(stories())
@settings(max_examples=3_000 if FULL_SIZE else 150, suppress_health_check=list(HealthCheck))
def test_a_run_keeps_its_rules(story: tuple[Flow, RunContext, list[tuple[RunEvent, RunContext]]]) -> None:
    flow, context, happened = story
    assert problems_of(flow, platform=context.platform) == []
    progress = checked(flow, begin_state(flow, token=TOKEN), Started("hello"), context)
    assert_written_once(progress)
    for event, then in happened:
        if progress.status is not RunStatus.WAITING:
            break
        progress = checked(flow, progress.state, event, then)
        assert_written_once(progress)


def assert_written_once(progress: Progress) -> None:
    """The A.I. gets the workspace's name as a fact; nothing else may have it."""
    assert SECRET not in repr([effect for effect in effects_of(progress) if not isinstance(effect, CallAi)])
