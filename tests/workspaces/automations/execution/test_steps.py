"""Each step does its work and leaves by each of its ports."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest

from tests.factories.flows import a_flow, a_step
from tests.workspaces.automations.execution.running_flows import ANA, NOW, effects_of, run
from workspaces.automations.execution.interpreter import EXECUTORS
from workspaces.automations.execution.types import (
    AddNote,
    AssignConversation,
    CallEnded,
    CallHttp,
    ChangeTag,
    CloseConversation,
    CreateTask,
    Effect,
    HandOver,
    Happened,
    NotifyTeam,
    Option,
    Replied,
    RunEvent,
    RunStatus,
    SendMessage,
    SetField,
    StartAutomation,
    Subscribe,
    TimedOut,
)
from workspaces.automations.flows.registry import STEPS

TITLES = [{"title": "One"}, {"title": "Two"}]
BOTH = {"open": {"monday": [["09:00", "17:00"]]}, "closed": {"monday": [["13:00", "17:00"]]}}
AI_ANSWER = {"instructions": "Answer from the address.", "tone": "short"}
TOPICS = {"topics": [{"title": "Prices"}, {"title": "Hours"}]}
DETAILS = {"details": [{"save_as": "year", "what": "The year"}]}
HTTP = {"method": "GET", "url": "https://api.example/x", "save_as": "reply"}
CONDITION = {"match": "all", "rules": [{"variable": "contact.city", "operator": "is", "value": "berlin"}]}
QUESTION = {"text": "How many?", "expects": "number", "save_as": "many"}
WRONG = (Replied("?!"), Replied("?!"), Replied("?!"))


# What the product's own appointments and invoices answer.
BOOK = {"text": "When?"}
PAY = {"text": "Please pay.", "pays": "amount", "amount": 20}
TEN, NOON = "2026-03-03T10:00:00+00:00", "2026-03-03T12:00:00+00:00"
SERVICES = CallEnded(True, {"services": [["s-1", "Cut", "20 EUR"], ["s-2", "Colour", ""]]})
TIMES = CallEnded(True, {"service": "s-2", "times": [TEN, NOON], "next": "2026-03-04T00:00:00+00:00"})
NO_TIMES = CallEnded(True, {"service": "s-2", "times": [], "next": ""})
TAKEN = CallEnded(False, code="time_taken")
BOOKED = CallEnded(True, {"appointment": {"id": "a-1", "starts_at": TEN, "date": "Tuesday", "time": "10:00"}})
NONE = CallEnded(True, {"appointments": []})
ONE = CallEnded(True, {"appointments": [["a-1", TEN, "Cut"]]})
TWO = CallEnded(True, {"appointments": [["a-1", TEN, "Cut"], ["a-2", NOON, "Colour"]]})
ASKED = CallEnded(True, {"invoice": "i-1", "payment": {"amount": "20 EUR", "link": "https://x.example/pay/1"}})


def pressed(port: str) -> Replied:
    return Replied("…", "interactive", port=port)


class Case(NamedTuple):
    type: str
    config: dict[str, Any]
    port: str
    events: tuple[RunEvent, ...] = ()
    effects: tuple[Effect, ...] | None = None
    context: dict[str, Any] = {}


def says(text: str, **more: Any) -> tuple[Effect, ...]:
    return (SendMessage(text=text, **more),)


CASES = [
    Case("send_text", {"text": "Hi {{contact.first_name}}"}, "next", effects=says("Hi Ana")),
    Case("send_text", {"text": "{{answers.nothing}}"}, "next", effects=()),
    Case("send_media", {"media": "m-1", "caption": "Look"}, "next", effects=says("Look", media="m-1")),
    Case(
        "send_media",
        {"media": "m-1", "caption": "Look"},
        "next",
        effects=(SendMessage(media="m-1"), SendMessage(text="Look")),
        context={"platform": "instagram"},
    ),
    Case(
        "send_link_button",
        {"text": "See", "title": "Open", "url": "https://x.example/?q={{contact.name}}"},
        "next",
        effects=says("See", style="link", button="Open", url="https://x.example/?q=Ana%20Lee"),
    ),
    Case(
        "send_call_button",
        {"text": "Call", "title": "Ring", "phone": "{{workspace.phone}}"},
        "next",
        effects=says("Call", style="call", button="Ring", phone="+4930123456"),
    ),
    Case(
        "send_template",
        {"purpose": "update", "template": "t-1", "parameters": ["{{contact.name}}", "{{answers.none}}"]},
        "next",
        effects=(SendMessage(template="t-1", parameters=("Ana Lee", "-")),),
    ),
    Case("send_location", {"text": "Here:"}, "next", effects=says("Here:\n1 High Street")),
    Case("reply_to_comment", {"text": "Thanks"}, "next", effects=says("Thanks", reply_to_comment=True)),
    Case("booking_link", {"text": "Book:"}, "next", effects=says("Book:\nhttps://salon.example/book")),
    Case("ask_review", {"text": "Stars?"}, "next", effects=says("Stars?\nhttps://salon.example/review")),
    Case("send_buttons", {"text": "?", "buttons": TITLES}, "button_2", (Replied("", port="button_2"),)),
    Case("send_buttons", {"text": "?", "buttons": TITLES}, "button_1", (Replied("one"),)),
    Case("send_buttons", {"text": "?", "buttons": TITLES}, "other", WRONG),
    Case("send_buttons", {"text": "?", "buttons": TITLES}, "other", (TimedOut(),)),
    Case("send_list", {"text": "?", "button": "Show", "rows": TITLES}, "row_1", (Replied("", port="row_1"),)),
    Case("send_list", {"text": "?", "button": "Show", "rows": TITLES}, "row_2", (Replied("2"),)),
    Case("send_list", {"text": "?", "button": "Show", "rows": TITLES}, "other", WRONG),
    Case(
        "show_quick_replies",
        {"text": "?", "replies": TITLES},
        "reply_1",
        (Replied("One"),),
        context={"platform": "instagram"},
    ),
    Case("show_quick_replies", {"text": "?", "replies": TITLES}, "reply_2", (Replied("two"),)),
    Case("show_quick_replies", {"text": "?", "replies": TITLES}, "other", (TimedOut(),)),
    Case("ask_question", QUESTION, "answered", (Replied("12"),)),
    Case("ask_question", {**QUESTION, "expects": "file"}, "answered", (Replied("", "image", media="m-1"),)),
    Case("ask_question", QUESTION, "no_answer", WRONG),
    Case("ask_question", QUESTION, "no_answer", (TimedOut(),)),
    Case("ask_choice", {"text": "?", "options": TITLES, "save_as": "x"}, "option_1", (Replied("1"),)),
    Case("ask_choice", {"text": "?", "options": TITLES, "save_as": "x"}, "option_2", (Replied("", port="option_2"),)),
    Case("ask_choice", {"text": "?", "options": TITLES, "save_as": "x"}, "other", WRONG),
    Case("ask_choice", {"text": "?", "options": TITLES, "save_as": "x"}, "no_answer", (TimedOut(),)),
    Case("ask_rating", {"text": "?", "save_as": "x"}, "happy", (Replied("4"),)),
    Case("ask_rating", {"text": "?", "save_as": "x"}, "happy", (Replied("⭐", port="rating_5"),)),
    Case("ask_rating", {"text": "?", "save_as": "x"}, "unhappy", (Replied("3"),)),
    Case("ask_rating", {"text": "?", "save_as": "x"}, "no_answer", (TimedOut(),)),
    Case("ask_consent", {"text": "?", "purpose": "marketing"}, "agreed", (Replied("yes"),), (Subscribe(True),)),
    Case("ask_consent", {"text": "?", "purpose": "marketing"}, "declined", (Replied("no"),), (Subscribe(False),)),
    Case("ask_consent", {"text": "?", "purpose": "marketing"}, "declined", (TimedOut(),), ()),
    Case("ask_consent", {"text": "?", "purpose": "reminders"}, "declined", WRONG, ()),
    Case("wait_for_reply", {"hours": 2}, "replied", (Replied("anything"),), ()),
    Case("wait_for_reply", {"hours": 2}, "no_reply", (TimedOut(),), ()),
    Case("condition", CONDITION, "yes"),
    Case("condition", CONDITION, "no", context={"contact": ANA.__class__()}),
    Case("has_tag", {"tag": "VIP"}, "yes", context={"contact": ANA.__class__(tags=frozenset({"vip"}))}),
    Case("has_tag", {"tag": "VIP"}, "no"),
    Case("split", {"parts": [{"percent": 1}, {"percent": 99}]}, "part_2"),
    Case("split", {"parts": [{"percent": 99}, {"percent": 1}]}, "part_1"),
    Case("wait", {"amount": 1, "unit": "days"}, "next", (TimedOut(),), ()),
    Case("wait_until", {"moment": "morning"}, "next", (TimedOut(),), ()),
    Case("working_hours", {}, "open", context={"opening_hours": BOTH["open"]}),
    Case("working_hours", {}, "closed", context={"opening_hours": BOTH["closed"]}),
    Case(
        "working_hours",
        {"calendar": "staff-1"},
        "closed",
        context={"opening_hours": BOTH["open"], "calendars": {"staff-1": BOTH["closed"]}},
    ),
    Case("add_tag", {"tag": "New"}, "next", effects=(ChangeTag("New", is_added=True),)),
    Case("remove_tag", {"tag": "New"}, "next", effects=()),
    Case(
        "set_field", {"field": "plan", "value": "{{contact.city}} 1"}, "next", effects=(SetField("plan", "Berlin 1"),)
    ),
    Case("subscription", {"change": "unsubscribe"}, "next", effects=(Subscribe(False),)),
    Case("assign", {"agent": "a@x.example"}, "next", effects=(AssignConversation("a@x.example"),)),
    Case(
        "hand_over",
        {"text": "One moment", "team": "t@x.example"},
        "next",
        effects=(SendMessage(text="One moment"), AssignConversation("t@x.example"), HandOver()),
    ),
    Case(
        "notify_team",
        {
            "text": "{{contact.name}} wrote",
            "by": "email",
            "recipients": [{"email": "b@x.example"}, {"email": "{{workspace.email}}"}, {"email": "{{contact.email}}"}],
        },
        "next",
        effects=(
            NotifyTeam("Ana Lee wrote", by="email", recipients=("b@x.example", "us@x.example", "{{contact.email}}")),
        ),
        context={"settings": {"email": "us@x.example"}, "contact": replace(ANA, email="eve@evil.example")},
    ),
    Case("add_note", {"text": "Note"}, "next", effects=(AddNote("Note"),)),
    Case("create_task", {"title": "Call", "due_hours": 2}, "next", effects=(CreateTask("Call", 2),)),
    Case("close_conversation", {}, "", effects=(CloseConversation(),)),
    Case("start_automation", {"automation": "u-1"}, "next", effects=(StartAutomation("u-1"),)),
    Case("book_appointment", BOOK, "booked", (SERVICES, pressed("choice_2"), TIMES, pressed("choice_1"), BOOKED)),
    Case("book_appointment", BOOK, "booked", (TIMES, Replied("Tue 3 Mar, 10:00"), BOOKED), effects=None),
    Case("book_appointment", BOOK, "booked", (TIMES, pressed("more"), TIMES, Replied("2"), BOOKED)),
    Case("book_appointment", BOOK, "booked", (TIMES, Replied("1"), TAKEN, TIMES, Replied("1"), BOOKED)),
    Case("book_appointment", BOOK, "not_booked", (NO_TIMES,)),
    Case("book_appointment", BOOK, "not_booked", (TIMES, TimedOut())),
    Case("book_appointment", BOOK, "not_booked", (TIMES, *WRONG)),
    Case("book_appointment", BOOK, "not_booked", (TimedOut(),)),
    Case("book_appointment", BOOK, "not_booked", (TIMES, *(Replied("1"), TAKEN, TIMES) * 9, Replied("1"), TAKEN)),
    Case("change_appointment", {"change": "confirm"}, "done", (ONE, BOOKED)),
    Case("change_appointment", {"change": "cancel"}, "done", (TWO, pressed("choice_2"), BOOKED)),
    Case("change_appointment", {"change": "reschedule"}, "done", (ONE, TIMES, Replied("1"), BOOKED)),
    Case("change_appointment", {"change": "cancel"}, "not_done", (NONE,)),
    Case("change_appointment", {"change": "cancel"}, "not_done", (ONE, CallEnded(False, code="not_possible"))),
    Case("payment_link", PAY, "paid", (ASKED, Happened("payment_received"))),
    Case("payment_link", PAY, "paid", (CallEnded(False, code="nothing_due"),)),
    Case("payment_link", PAY, "not_paid", (ASKED, TimedOut())),
    Case("payment_link", PAY, "not_paid", (CallEnded(False, code="no_price"),)),
    Case("payment_link", PAY, "not_paid", (TimedOut(),)),
    Case("http_call", HTTP, "success", (CallEnded(True, {"status": 204, "text": "ok"}),)),
    Case("http_call", HTTP, "failure", (CallEnded(True, {"status": 500, "text": "no"}),)),
    Case("http_call", HTTP, "failure", (CallEnded(False, code="timeout"),)),
    Case("http_call", HTTP, "failure", (TimedOut(),)),
    Case(
        "ai_answer",
        AI_ANSWER,
        "answered",
        (CallEnded(True, {"answer": "At 1 High Street.", "facts": ["address"]}),),
        says("At 1 High Street."),
    ),
    Case("ai_answer", AI_ANSWER, "unsure", (CallEnded(True, {"answer": "x", "facts": []}),), ()),
    Case("ai_answer", AI_ANSWER, "unsure", (CallEnded(True, {"answer": "x", "facts": ["a"]}),), ()),
    Case("ai_answer", AI_ANSWER, "unsure", (CallEnded(False, code="budget"),), ()),
    Case("ai_answer", AI_ANSWER, "unsure", (TimedOut(),), ()),
    Case("ai_classify", TOPICS, "topic_2", (CallEnded(True, {"topic": "topic_2"}),)),
    Case("ai_classify", TOPICS, "topic_1", (CallEnded(True, {"topic": "Prices"}),)),
    Case("ai_classify", TOPICS, "other", (CallEnded(True, {"topic": "prices and more"}),)),
    Case("ai_classify", TOPICS, "other", (CallEnded(True, {"topic": "topic_9"}),)),
    Case("ai_classify", TOPICS, "other", (CallEnded(True, {"topic": ["topic_1"]}),)),
    Case("ai_classify", TOPICS, "other", (TimedOut(),)),
    Case("ai_extract", DETAILS, "found", (CallEnded(True, {"year": "2019"}),)),
    Case("ai_extract", DETAILS, "not_found", (CallEnded(True, {"year": None}),)),
    Case("ai_extract", DETAILS, "not_found", (CallEnded(False),)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.port}")
def test_a_step_leaves_by_its_port_with_its_effects(case: Case) -> None:
    progress = run(a_flow(a_step("it", case.type, **case.config)), *case.events, **case.context)
    assert (progress.status, progress.steps[-1].port) == (RunStatus.COMPLETED, case.port)
    if case.effects is not None:
        assert tuple(effects_of(progress)) == case.effects


def test_every_port_of_every_step_that_runs_has_its_case() -> None:
    assert {*EXECUTORS} == {name for name, declared in STEPS.items() if not declared.unavailable}
    wanted = {
        (name, port)
        for name in EXECUTORS
        for case in CASES
        if case.type == name
        for port in STEPS[name].ports_of(case.config)
    }
    assert {case.type for case in CASES} == {*EXECUTORS}
    assert wanted - {(case.type, case.port) for case in CASES} == set()


def test_a_step_that_the_product_cannot_do_fails_the_run_and_says_so() -> None:
    for name, declared in STEPS.items():
        if declared.unavailable:
            progress = run(a_flow(a_step("it", name)))
            assert progress.error is not None
            assert (progress.error.code, progress.error.node) == ("step_unavailable", "it")


@pytest.mark.parametrize(
    ("type", "config", "code", "changes"),
    [
        ("booking_link", {"text": "Book"}, "setting_missing", {"settings": {}}),
        ("send_template", {"purpose": "offer"}, "template_missing", {}),
        ("wait_until", {"moment": "before_appointment"}, "appointment_missing", {}),
        ("http_call", {"method": "GET", "url": "https://{{answers.host}}/"}, "address_refused", {}),
        ("http_call", {"method": "GET", "url": "https://x{{contact.name}}@y.example/"}, "address_refused", {}),
    ],
)
def test_a_step_without_what_it_needs_fails_the_run(
    type: str, config: dict[str, Any], code: str, changes: dict[str, Any]
) -> None:
    progress = run(
        a_flow(a_step("hi", "send_text", {"next": "it"}, text="Hi"), a_step("it", type, **config)), **changes
    )
    assert progress.error is not None
    assert (progress.error.code, progress.error.node, len(effects_of(progress))) == (code, "it", 1)


def test_many_choices_are_a_list_on_whatsapp_and_quick_replies_on_instagram() -> None:
    titles = [{"title": f"Choice {number}"} for number in range(1, 6)]
    flow = a_flow(a_step("it", "ask_choice", text="Which?", options=titles, save_as="x"))
    options = tuple(Option(f"option_{number}", f"Choice {number}") for number in range(1, 6))
    assert effects_of(run(flow)) == [SendMessage(text="Which?", style="list", options=options, list_button="Choose")]
    assert effects_of(run(flow, platform="instagram")) == [
        SendMessage(text="Which?", style="quick_replies", options=options)
    ]


def test_no_button_is_empty_or_equal_to_another() -> None:
    titles = [{"title": "{{answers.none}}"}, {"title": "Same"}, {"title": "Same"}]
    asked = effects_of(run(a_flow(a_step("it", "send_buttons", text="{{answers.none}}", buttons=titles))))
    options = (Option("button_1", "1"), Option("button_2", "Same"), Option("button_3", "3. Same"))
    assert asked == [SendMessage(text="Please choose one of these answers.", style="buttons", options=options)]
    link = a_step("it", "send_link_button", text="{{answers.a}}", title="{{answers.b}}", url="https://x.example/")
    assert effects_of(run(a_flow(link))) == [SendMessage(text="→", style="link", button="→", url="https://x.example/")]


def test_values_cannot_leave_their_place_in_an_address_a_header_or_a_body() -> None:
    nasty = ANA.__class__(name='x"}, "admin": 1\r\nX-Evil: 1/../?a=b&c', email="https://evil.example")
    step = a_step(
        "it",
        "http_call",
        method="POST",
        url="https://api.example/{{contact.name}}",
        headers=[{"name": "X-Name", "value": "{{contact.name}}"}],
        body='{"name": "{{contact.name}}"}',
    )
    call = effects_of(run(a_flow(step), contact=nasty))[0]
    assert isinstance(call, CallHttp)
    assert call.url == "https://api.example/x%22%7D%2C%20%22admin%22%3A%201%0D%0AX-Evil%3A%201%2F..%2F%3Fa%3Db%26c"
    assert call.headers == (("X-Name", 'x"}, "admin": 1  X-Evil: 1/../?a=b&c'),)
    assert call.body == '{"name": "x\\"}, \\"admin\\": 1\\r\\nX-Evil: 1/../?a=b&c"}'


MOMENTS = [
    # Berlin's clocks jump from 02:00 to 03:00 on 29 March 2026, and go back on 25 October.
    ("morning", "2026-03-28T20:00+01:00", "2026-03-29T09:00+02:00", "Europe/Berlin"),
    ("morning", "2026-03-28T08:59+01:00", "2026-03-28T09:00+01:00", "Europe/Berlin"),
    ("evening", "2026-10-24T18:00+02:00", "2026-10-25T18:00+01:00", "Europe/Berlin"),
    ("morning", "2026-03-02T12:00+00:00", "2026-03-02T14:00+00:00", "America/New_York"),
    ("morning", "2026-03-02T12:00+00:00", "2026-03-03T09:00+01:00", "Nowhere/City"),
]


@pytest.mark.parametrize(("moment", "now", "until", "zone"), MOMENTS)
def test_a_moment_is_that_of_the_contacts_clock(moment: str, now: str, until: str, zone: str) -> None:
    """Without a known zone of the contact, it is the workspace's clock."""
    contact = ANA.__class__(timezone=zone)
    flow = a_flow(a_step("it", "wait_until", moment=moment))
    at = datetime.fromisoformat(now).astimezone(UTC)
    wait = run(flow, now=at, contact=contact, timezone="Europe/Berlin").state.wait
    assert wait is not None
    assert wait.until == datetime.fromisoformat(until)


def test_the_next_opening_is_that_of_the_business_and_is_not_waited_for_while_it_is_open() -> None:
    flow = a_flow(a_step("it", "wait_until", moment="next_opening"))
    wait = run(flow, opening_hours=BOTH["closed"]).state.wait
    assert wait is not None
    assert wait.until == NOW + timedelta(hours=1)
    assert run(flow, opening_hours=BOTH["open"]).status is RunStatus.COMPLETED
    assert run(flow).status is RunStatus.COMPLETED
