"""What keeps a flow from being published."""

from typing import Any

import pytest

from tests.factories.flows import Flow, a_flow, a_step
from workspaces.automations.flows.checks import MOST_STEPS, is_bounded, problems_of
from workspaces.automations.flows.flow import Step
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import REQUIREMENTS, StepType, TriggerType


def said(flow: Any, platform: str = "whatsapp") -> list[str]:
    return [problem.sentence for problem in problems_of(flow, platform=platform)]


def test_a_flow_of_one_step_is_valid() -> None:
    assert said(a_flow()) == []


def test_there_are_at_least_25_types_of_steps_and_each_field_of_each_has_a_label() -> None:
    assert len(STEPS) >= 25
    every: list[StepType | TriggerType] = [*STEPS.values(), *TRIGGERS.values()]
    for declared in every:
        assert declared.label
        assert set(declared.requires) <= set(REQUIREMENTS)
        assert all(field.label for field in declared.fields)


@pytest.mark.parametrize(
    "flow",
    [
        None,
        [],
        {},
        {"trigger": None, "steps": []},
        {"trigger": {"type": "keyword"}, "steps": []},
        {"trigger": {"type": "keyword"}, "steps": [1]},
        {"trigger": {"type": "keyword"}, "steps": [{"type": "send_text"}]},
        {"trigger": {"type": "keyword"}, "steps": [{"type": "send_text", "id": "trigger"}]},
        {"trigger": {"type": "keyword"}, "steps": [{"type": "send_text", "id": "a b"}]},
        {"trigger": {"type": "keyword"}, "steps": [{"type": "send_text", "id": "a", "next": {"next": 1}}]},
    ],
)
def test_what_is_no_flow_is_recognized(flow: Any) -> None:
    assert len(said(flow)) == 1


def test_the_entry_must_be_a_step() -> None:
    assert said(a_flow() | {"entry": "nowhere"}) == ["The flow's entry must be one of its steps."]
    assert said(a_flow() | {"entry": None}) == ["The flow's entry must be one of its steps."]


def test_ids_are_distinguished() -> None:
    step = a_step("x", "send_text", text="Hi")
    assert said(a_flow(step, step)) == ["Two steps have the same id."]


def test_an_edge_must_not_dangle() -> None:
    assert said(a_flow(a_step("x", "send_text", {"next": "gone"}, text="Hi"))) == [
        "Step 1 leads to a step that is not there."
    ]


def test_a_way_out_must_exist() -> None:
    buttons = a_step("x", "send_buttons", {"button_2": "y"}, text="Hi", buttons=[{"title": "One"}])
    assert said(a_flow(buttons, a_step("y", "close_conversation"))) == ["Step 1 has no such way out."]


def test_every_step_must_be_within_reach() -> None:
    flow = a_flow(a_step("x", "send_text", text="Hi"), a_step("y", "close_conversation"))
    assert said(flow) == ["Step 2 cannot be reached."]


def test_a_loop_needs_a_pause() -> None:
    first = a_step("x", "send_text", {"next": "y"}, text="Hi")
    assert said(a_flow(first, a_step("y", "add_tag", {"next": "x"}, tag="t"))) == [
        "The flow runs in a circle without a step that waits."
    ]
    assert said(a_flow(first, a_step("y", "wait", {"next": "x"}, amount=1, unit="days"))) == []


def test_types_and_channels_must_be_known() -> None:
    assert said(a_flow(a_step("x", "teleport"))) == ["Step 1 is of a type that is not known."]
    assert said(a_flow(trigger="full_moon")) == ["Start is of a type that is not known."]
    buttons = a_flow(a_step("x", "send_buttons", text="Hi", buttons=[{"title": "One"}]))
    assert said(buttons, "sms") == ["Step 1 (Send buttons) is not available on this channel type."]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (a_step("x", "send_text"), "text is not filled in."),
        (a_step("x", "send_text", text="t" * 4_097), "text may have at most 4096 characters."),
        (a_step("x", "send_text", text=5), "text must be a text."),
        (a_step("x", "send_text", text="{{contact.shoe}}"), "text holds the unknown variable {{contact.shoe}}."),
        (a_step("x", "send_text", text="Hi", colour="red"), "colour is not a field of this step."),
        (a_step("x", "wait", amount=0, unit="days"), "amount must be a number from 1 to 365."),
        (a_step("x", "wait", amount=True, unit="days"), "amount must be a number from 1 to 365."),
        (a_step("x", "wait", amount=1.5, unit="days"), "amount must be a number from 1 to 365."),
        (a_step("x", "wait", amount=1, unit="years"), "unit must be one of: minutes, hours, days."),
        (a_step("x", "set_field", field="Shoe Size", value="1"), "field must be lower-case letters"),
        (a_step("x", "send_buttons", text="t", buttons=[]), "buttons is not filled in."),
        (a_step("x", "send_buttons", text="t", buttons=[{}]), "buttons.0.title is not filled in."),
        (a_step("x", "send_buttons", text="t", buttons=["a"]), "buttons.0 must be an object."),
        (a_step("x", "send_buttons", text="t", buttons=[{"title": "t"}] * 4), "buttons must be a list of at most 3"),
        (a_step("x", "send_link_button", text="t", title="t", url="javascript:alert(1)"), "url must be a valid web"),
        (a_step("x", "send_link_button", text="t", title="t", url="http://[::1"), "url must be a valid web address."),
        (a_step("x", "send_call_button", text="t", title="t", phone="call me"), "phone must be a valid phone number."),
        (a_step("x", "ask_consent", text="t", purpose="marketing", double_check=1), "double_check must be true or"),
    ],
)
def test_fields_are_held_to_their_types(step: Step, sentence: str) -> None:
    (problem,) = said(a_flow(step))
    assert sentence in problem
    assert problem.startswith("Step 1 (")


def test_a_config_that_is_no_object_is_refused() -> None:
    flow: Any = a_flow()
    flow["steps"][0]["config"] = "text"
    assert said(flow) == ["Step 1 (Send a text): must be an object."]


def test_a_variable_of_the_workspace_stands_for_an_own_value() -> None:
    step = a_step("x", "send_link_button", text="t", title="t", url="{{ workspace.website }}")
    assert said(a_flow(step)) == []
    assert said(a_flow(a_step("x", "send_link_button", text="t", title="t", url="{{contact.email}}"))) != []


def many_steps(count: int) -> Flow:
    steps = [a_step(f"s{number}", "add_tag", {"next": f"s{number + 1}"}, tag="t") for number in range(count - 1)]
    return a_flow(*steps, a_step(f"s{count - 1}", "close_conversation"))


def test_a_flow_has_at_most_200_steps() -> None:
    assert said(many_steps(MOST_STEPS)) == []
    assert said(many_steps(MOST_STEPS + 1)) == ["A flow may have at most 200 steps."]


def test_a_flow_is_bounded_in_size_depth_and_text() -> None:
    deep: Any = 1
    for _ in range(30):
        deep = [deep]
    assert is_bounded(a_flow())
    assert is_bounded({"text": "a backslash and u0000: \\u0000"})
    assert not is_bounded({"text": "x" * 262_144})
    assert not is_bounded({"text": deep})
    assert not is_bounded({"text": "\0"})
    assert not is_bounded({"text": "\ud800"})
    assert not is_bounded({"number": 2**70})
    assert not is_bounded({1: "x"})
