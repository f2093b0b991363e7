"""A flow is tried in a chat that a page keeps."""

import json
from typing import Any

import pytest

from tests.factories.flows import a_flow, a_step
from tests.workspaces.automations.execution.running_flows import ANA, NOW, SETTINGS, TOKEN
from workspaces.automations.execution.simulator import MOST_LINES, Simulation, SimulationRefused, WorkspaceValues
from workspaces.automations.execution.types import RunStatus, WaitKind
from workspaces.automations.flows.flow import Flow

FLOW = a_flow(
    a_step("ask", "send_buttons", {"button_1": "tag", "other": "wait"}, text="Hi {{contact.first_name}}", buttons=[]),
    a_step("tag", "add_tag", {"next": "sort"}, tag="VIP"),
    a_step("sort", "ai_classify", {"topic_1": "has", "other": "wait"}, topics=[{"title": "Prices"}]),
    a_step("has", "has_tag", {"yes": "link"}, tag="vip"),
    a_step("link", "booking_link", text="Book"),
    a_step("wait", "wait", amount=2, unit="hours"),
)
FLOW["steps"][0]["config"]["buttons"] = [{"title": "Yes"}]


def a_chat(flow: Flow = FLOW, **more: Any) -> Simulation:
    return Simulation.begin(
        flow,
        "whatsapp",
        ANA,
        now=NOW,
        workspace=WorkspaceValues(settings=SETTINGS, timezone="Europe/Berlin"),
        token=TOKEN,
        **more,
    )


def kept(chat: Simulation) -> Simulation:
    """The chat as a page gives it back."""
    return Simulation.from_json(FLOW, json.loads(json.dumps(chat.to_json())))


def said(chat: Simulation) -> list[tuple[str, str]]:
    return [(line.by, line.text) for line in chat.transcript]


def test_a_chat_goes_on_from_what_a_page_kept() -> None:
    chat = kept(a_chat())
    assert said(chat) == [("contact", "hello"), ("business", "Hi Ana")]
    assert chat.transcript[1].options == ({"port": "button_1", "title": "Yes", "description": ""},)
    chat.press("button_7")
    assert len(chat.transcript) == 2
    chat.press("button_1")
    chat = kept(chat)
    assert (chat.waits_for, chat.contact.tags) == (WaitKind.CALL, frozenset({"vip"}))
    chat.send("Are you there?")
    assert said(chat)[-1] == ("note", "No step waits for an answer here.")
    chat.end_call({"topic": "topic_1"})
    chat = kept(chat)
    assert said(chat)[-2:] == [("business", "Book\nhttps://salon.example/book"), ("note", "The automation ends here.")]
    assert chat.status is RunStatus.COMPLETED
    chat.wait_until_next()
    chat.send("More?")
    assert said(chat)[-1] == ("note", "No step waits for an answer here.")


def test_the_clock_moves_to_the_end_of_a_wait() -> None:
    chat = a_chat(text="Good day")
    for text in ("what", "what", "what"):
        chat.send(text)
    assert chat.waits_for is WaitKind.TIME
    assert said(chat)[-1] == ("note", "The automation waits until 2 Mar 2026, 15:00.")
    chat.wait_until_next()
    assert chat.now.hour == 14
    assert said(chat)[-1] == ("note", "The automation ends here.")


def test_a_failure_is_told_in_a_sentence() -> None:
    chat = Simulation.begin(a_flow(a_step("it", "custom_code", code="x")), "whatsapp", now=NOW)
    assert (chat.status, said(chat)[-1]) == (RunStatus.FAILED, ("note", "This step cannot run yet."))


def test_a_task_is_told_with_its_time_and_person() -> None:
    task = a_step("it", "create_task", title="Call {{contact.name}} back", due_hours=1, agent="mia@salon.example")
    chat = Simulation.begin(a_flow(task), "whatsapp", now=NOW)
    told = "A task is created: Call back · It is due in 1 hour. · It is assigned to mia@salon.example."
    assert said(chat)[-2:] == [("note", told), ("note", "The automation ends here.")]


def test_a_chat_is_bounded() -> None:
    flow = a_flow(
        a_step("a", "wait_for_reply", {"replied": "b"}, hours=1), a_step("b", "add_tag", {"next": "a"}, tag="x")
    )
    chat = a_chat(flow)
    for _ in range(MOST_LINES + 10):
        chat.send("x" * 10_000)
    assert len(chat.transcript) == MOST_LINES
    assert max(len(line.text) for line in chat.transcript) == 4_096


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"now": "yesterday"},
        {"run": {}},
        {"contact": {"tags": None}},
        {"contact": []},
        {"status": "happy"},
        {"transcript": [{"by": "contact"}]},
        {"transcript": [1]},
        {"run": {"wait_until": 5}},
    ],
)
def test_a_stored_chat_that_is_none_is_refused(broken: dict[str, Any]) -> None:
    stored = a_chat().to_json() | broken if broken else {}
    with pytest.raises(SimulationRefused):
        Simulation.from_json(FLOW, stored)


def test_a_chat_books_a_sample_appointment_and_pays_a_sample_invoice() -> None:
    flow = a_flow(
        a_step("book", "book_appointment", {"booked": "pay"}, text="When?"),
        a_step("pay", "payment_link", {"paid": "bye", "not_paid": "no"}, text="Please pay.", pays="appointment"),
        a_step("bye", "send_text", text="See you at {{appointment.time}}. Paid: {{payment.amount}}"),
        a_step("no", "send_text", text="Not paid."),
    )
    chat = Simulation.begin(flow, "whatsapp", now=NOW, workspace=WorkspaceValues(currency="EUR"))
    chat.press("choice_1")
    assert [option["title"] for option in chat.transcript[-1].options][:2] == ["Tue 3 Mar, 10:00", "Tue 3 Mar, 14:30"]
    chat.send("tomorrow 14:30")
    assert chat.waits_for_payment
    chat.pay()
    assert chat.transcript[-2].text == "See you at 14:30. Paid: 50 EUR"
    assert not chat.waits_for_payment
