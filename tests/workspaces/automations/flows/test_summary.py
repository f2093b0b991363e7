"""How a flow reads to people."""

from typing import Any

from tests.factories.flows import a_flow, a_step
from workspaces.automations.flows.presentation import summarize


def test_texts_settings_and_branches_are_summarized() -> None:
    buttons = a_step(
        "ask",
        "send_buttons",
        {"other": "ask", "button_2": "note", "button_1": "wait"},
        text="Yes or no?",
        buttons=[{"title": "Yes"}, {"title": "No"}],
    )
    wait = a_step("wait", "wait", {"next": "note"}, amount=2, unit="days")
    rule = {"variable": "answers.rooms", "operator": "more_than", "value": "6"}
    note = a_step("note", "condition", {"no": "wait", "yes": "ask"}, match="all", rules=[rule])
    first, second, third = summarize(a_flow(buttons, wait, note))
    assert (first.number, first.label, first.texts, first.branches) == (
        1, "Send buttons", ["Yes or no?"], [("Yes", 2), ("No", 3), ("other", 1)],
    )  # fmt: skip
    assert (second.settings, second.texts, second.branches) == ("How long: 2 · Unit: days", [], [])
    assert (third.texts, third.settings, third.branches) == (
        ["answers.rooms: more than: 6"],
        "Match: all",
        [("no", 2), ("yes", 1)],
    )


def test_what_belongs_to_somebody_and_what_is_empty_is_left_out() -> None:
    slot = a_step("text", "send_text", {"next": "link"}, text=None)
    link = a_step("link", "notify_team", text="Hello team", recipients=[{"email": "ada@example.com"}], sender="acct-1")
    assert [(step.texts, step.settings) for step in summarize(a_flow(slot, link))] == [([], ""), (["Hello team"], "")]


def test_a_draft_of_any_form_can_be_summarized() -> None:
    steps: list[Any] = [
        {"id": "a", "type": "send_buttons", "config": [1], "next": {"button_1": "b", "button_0": "gone"}},
        {"id": "b", "type": "send_buttons", "config": {"text": 5, "buttons": ["Yes"]}, "next": {"button_1": "a"}},
        {"id": "c", "type": "send_buttons"},
    ]
    assert [(step.texts, step.branches) for step in summarize(a_flow(*steps))] == [
        ([], [("button 1", 2)]),
        ([], [("button 1", 1)]),
        ([], []),
    ]


def test_a_type_that_is_no_longer_known_goes_by_its_name() -> None:
    (step,) = summarize(a_flow(a_step("old", "send_fax", number="1")))
    assert (step.label, step.texts, step.branches) == ("send_fax", [], [])
