"""Facts start and continue runs, each once; whatever a batch does is written together."""

from datetime import date
from typing import Any

import pytest

from config.tries.models import BegunWork
from tests import furnished
from tests.factories.flows import Flow, a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received, the_conversation
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import (
    Automation,
    AutomationCount,
    AutomationPause,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    EngineBatch,
    TriggerEvent,
)
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message, QueuedMessage

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db

CHOICE = a_flow(
    a_step(
        "ask",
        "ask_choice",
        {"option_1": "cut", "option_2": "colour"},
        text="Cut or colour?",
        options=[{"title": "Cut"}, {"title": "Colour"}],
        save_as="wish",
    ),
    a_step("cut", "send_text", {"next": "tag"}, text="A cut it is."),
    a_step("colour", "send_text", {"next": "tag"}, text="A colour it is."),
    a_step("tag", "add_tag", {}, tag="Asked"),
)


def on(a: Tenant, flow: Flow | None = None, **changes: Any) -> Automation:
    """A published automation of the customer's that is on."""
    automation = an_automation(a.workspace, flow=flow, name=changes.pop("name", "Welcome"))
    Automation.objects.filter(pk=automation.pk).update(enabled=True, **changes)
    return automation


def say(a: Tenant, text: str, **changes: Any) -> None:
    """A message of the contact, and what the engine does with it."""
    receive(received(a.channel, text=text, **changes))
    run_due()


def sent() -> list[str]:
    return list(Message.objects.filter(direction="out").order_by("pk").values_list("text", flat=True))


def test_a_keyword_starts_a_run_that_answers(a: Tenant) -> None:
    automation = on(a)
    say(a, "Well, hello there")
    run = AutomationRun.objects.get()
    assert (run.automation, run.status, run.seq, run.messages) == (automation, "completed", 1, 1)
    assert sent() == ["Hello Person!"]
    message = Message.objects.get(direction="out")
    assert (message.status, message.sent_by_kind, message.sent_by_label) == ("pending", "automation", "Welcome")
    assert QueuedMessage.objects.get().message_id == message.pk
    assert list(run.steps.values_list("seq", "node", "message_id")) == [(1, "greet", message.pk)]
    event = TriggerEvent.objects.get()
    assert (event.outcome, event.reason, event.run_id) == ("started", "keyword", run.pk)
    assert not EngineBatch.objects.exists()


def test_a_keyword_with_a_typing_mistake_starts_where_nothing_is_written_right(a: Tenant) -> None:
    on(a, a_flow(keywords=["prices"], typos=True))
    on(a, a_flow(a_step("win", "send_text", text="You won!"), keywords=["prizes"]), name="Prizes")
    say(a, "Your pirces?")
    say(a, "Any prizes?", at=moment(1))
    assert sent() == ["Hello Person!", "You won!"]


def test_a_typing_mistake_ends_no_open_question(a: Tenant) -> None:
    on(a, a_flow(a_step("ask", "ask_question", {}, text="When?", expects="date", save_as="day")))
    on(a, a_flow(keywords=["prices"], typos=True, match="exact"), name="Prices")
    say(a, "hello")
    say(a, "pirces", at=moment(1))
    assert sent()[1:] == ["Bitte senden Sie ein Datum, zum Beispiel 24. Dezember."]
    say(a, "prices", at=moment(2))
    assert sent()[2:] == ["Hello Person!"]


def test_an_answer_goes_to_the_question_and_to_nothing_else(a: Tenant) -> None:
    on(a, CHOICE)
    on(a, a_flow(trigger="keyword", keywords=["colour"]), name="Colours")
    say(a, "hello")
    say(a, "colour", at=moment(1))
    assert sent()[-1] == "A colour it is."
    run = AutomationRun.objects.get()
    assert (run.status, run.data["answers"]) == ("completed", {"wish": "Colour"})
    assert Contact.objects.get().tags == ["Asked"]
    assert list(TriggerEvent.objects.order_by("pk").values_list("outcome", "reason")) == [
        ("started", "keyword"),
        ("continued", "answer"),
    ]


def test_a_date_counts_only_after_the_button_of_its_own_confirmation(a: Tenant) -> None:
    on(a, a_flow(a_step("ask", "ask_question", {}, text="When?", expects="date", save_as="day")))
    say(a, "hello")
    say(a, "tomorrow", at=moment(1))
    run = AutomationRun.objects.get()
    first = f"run:{run.uuid.hex}:{run.seq}:yes_1"
    asked = Message.objects.filter(direction="out").latest("pk").details["interactive"]["options"]
    assert [one["payload"] for one in asked] == [first, first.replace("yes", "no")]
    say(a, "on Sunday", at=moment(2))
    say(a, "Yes", at=moment(3), payload=first)
    assert TriggerEvent.objects.latest("pk").reason == "stale_button"
    run.refresh_from_db()
    assert (run.status, run.data["answers"]) == ("waiting", {})
    say(a, "Yes", at=moment(4), payload=f"run:{run.uuid.hex}:{run.seq}:yes_2")
    run.refresh_from_db()
    day = date.fromisoformat(run.data["answers"]["day"])
    assert (run.status, day.weekday()) == ("completed", 6)


def test_two_messages_of_one_batch_are_a_start_and_its_answer(a: Tenant) -> None:
    on(a, CHOICE)
    receive(received(a.channel, text="hello"), received(a.channel, text="1", at=moment(1)))
    run_due()
    assert AutomationRun.objects.get().status == "completed"
    assert sent()[1:] == ["A cut it is."]


def test_a_message_that_comes_twice_starts_once(a: Tenant) -> None:
    on(a)
    message = received(a.channel, text="hello")
    for _ in range(2):
        receive(message)
        run_due()
    assert AutomationRun.objects.count() == 1


def test_a_wait_that_has_ended_goes_on_by_itself(a: Tenant) -> None:
    wait = a_step("wait", "wait", {"next": "greet"}, amount=2, unit="hours")
    on(a, a_flow(wait, a_step("greet", "send_text", text="Back again.")))
    say(a, "hello")
    assert (sent(), AutomationRun.objects.get().status) == ([], "waiting")
    AutomationRun.objects.update(wait_until=moment(-1))
    ContactQueue.objects.update(ready_at=moment(-1))
    run_due()
    assert (sent(), AutomationRun.objects.get().status) == (["Back again."], "completed")


def test_an_opt_out_stops_every_run_and_starts_nothing(a: Tenant) -> None:
    on(a, CHOICE)
    on(a, a_flow(trigger="any_message"), name="Catch-all")
    say(a, "hello")
    say(a, "STOP", at=moment(1))
    assert AutomationRun.objects.get().status == "stopped"
    event = TriggerEvent.objects.latest("pk")
    assert (event.outcome, event.reason) == ("nothing", "opted_out")
    assert len(sent()) == 2  # the question and the confirmation of the opt-out


def test_a_message_that_nothing_answers_says_so(a: Tenant) -> None:
    on(a)
    say(a, "good morning")
    event = TriggerEvent.objects.get()
    assert (event.outcome, event.reason) == ("nothing", "no_match")
    assert not AutomationRun.objects.exists()


def test_a_workspace_without_an_automation_that_is_on_gets_no_rows(a: Tenant) -> None:
    an_automation(a.workspace)
    say(a, "hello")
    assert not TriggerEvent.objects.exists()
    assert not ContactQueue.objects.exists()


def test_ten_messages_a_minute_are_the_most_that_a_contact_gets(a: Tenant) -> None:
    steps = [
        a_step(f"s{number}", "send_text", {"next": f"s{number + 1}"}, text=f"Number {number}") for number in range(11)
    ]
    on(a, a_flow(*steps, a_step("s11", "send_text", text="The end")))
    say(a, "hello")
    run = AutomationRun.objects.get()
    assert (run.status, run.error_code, run.error_node) == ("failed", "too_many_messages_to_contact", "s10")
    assert len(sent()) == 10


def test_counts_say_what_an_automation_did(a: Tenant) -> None:
    automation = on(a, CHOICE)
    say(a, "hello")
    say(a, "2", at=moment(1))
    rows = AutomationCount.objects.filter(automation=automation).values_list("node", "port", "number")
    counts = {(node, port): number for node, port, number in rows}
    assert counts["", "started"] == counts["", "completed"] == 1
    assert counts["", "messages"] == 2
    assert counts["ask", "option_2"] == 1


def test_a_batch_costs_the_same_whatever_its_size(a: Tenant, django_assert_max_num_queries: Any) -> None:
    on(a)
    for number in range(1, 4):
        receive(received(a.channel, person=person(number), text="hello"))
    run_due()
    for number in range(4, 44):
        receive(received(a.channel, person=person(number), text="hello"))
    with django_assert_max_num_queries(40):
        run_due()
    assert AutomationRunStep.objects.count() == 43


def test_a_catch_all_answers_a_contact_once_a_day(a: Tenant) -> None:
    on(a, a_flow(trigger="any_message"))
    say(a, "good morning")
    say(a, "are you there?", at=moment(1))
    assert sent() == ["Hello Person!"]
    assert TriggerEvent.objects.latest("pk").reason == "catch_all_lately"
    AutomationRun.objects.update(started_at=moment(-25 * 3600))
    say(a, "good evening", at=moment(2))
    assert len(sent()) == 2


def test_an_automation_for_once_is_not_entered_again(a: Tenant) -> None:
    on(a, reentry="once")
    for seconds in range(2):
        say(a, "hello", at=moment(seconds))
    assert sent() == ["Hello Person!"]
    assert TriggerEvent.objects.latest("pk").reason == "not_again"


def test_people_who_have_the_conversation_are_not_talked_over(a: Tenant) -> None:
    on(a)
    receive(received(a.channel, text="good morning"))
    conversation = the_conversation()
    AutomationPause.objects.create(conversation_id=conversation.pk, workspace_id=a.workspace.pk, reason="by_hand")
    say(a, "hello", at=moment(1))
    assert (sent(), TriggerEvent.objects.latest("pk").reason) == ([], "people_have_it")


def test_a_message_that_is_due_while_people_have_the_conversation_is_skipped(a: Tenant) -> None:
    wait = a_step("wait", "wait", {"next": "greet"}, amount=2, unit="hours")
    on(a, a_flow(wait, a_step("greet", "send_text", {"next": "tag"}, text="Back."), a_step("tag", "add_tag", tag="x")))
    say(a, "hello")
    AutomationPause.objects.create(conversation_id=the_conversation().pk, workspace_id=a.workspace.pk, reason="by_hand")
    AutomationRun.objects.update(wait_until=moment(-1))
    ContactQueue.objects.update(ready_at=moment(-1))
    run_due()
    run = AutomationRun.objects.get()
    assert (sent(), run.status, Contact.objects.get().tags) == ([], "completed", ["x"])
    assert list(run.steps.filter(node="greet").values_list("detail", flat=True)) == ["paused"]


def test_a_contact_in_whose_work_a_process_died_five_times_is_given_up(a: Tenant) -> None:
    on(a)
    receive(received(a.channel, text="hello"), received(a.channel, person=person(2), text="hello"))
    broken = Contact.objects.order_by("pk").first()
    assert broken is not None
    ContactQueue.objects.filter(contact_id=broken.pk).update(is_suspect=True)
    BegunWork.objects.create(kind="automations", key=str(broken.pk), tries=5, begun_at=moment())
    run_due()
    outcomes = dict(TriggerEvent.objects.values_list("contact_id", "reason"))
    assert outcomes.pop(broken.pk) == "internal_error"
    assert list(outcomes.values()) == ["keyword"]
    assert len(sent()) == 1


def test_a_run_whose_conversation_is_gone_is_stopped(a: Tenant) -> None:
    on(a, CHOICE)
    say(a, "hello")
    AutomationRun.objects.update(conversation_id=None, wait_until=moment(-1))
    ContactQueue.objects.update(ready_at=moment(-1))
    run_due()
    run = AutomationRun.objects.get()
    assert (run.status, run.error_message) == ("stopped", "conversation_gone")
