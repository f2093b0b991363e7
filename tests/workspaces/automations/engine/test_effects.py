"""What runs do beside sending texts: they answer comments, call other systems, start others and hand over."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import NotificationEvent
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory
from tests.factories.flows import Flow, a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_engine import CHOICE, on, say, sent
from tests.workspaces.contacts.test_tasks import fill_up
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, reference, the_conversation
from tests.workspaces.conversations.test_sending_api import a_file
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import Automation, AutomationPause, AutomationRun, OutsideCall, TriggerEvent
from workspaces.automations.services.outside_calls import CallResult, record_results
from workspaces.automations.services.run_control import stop_run, stop_runs_of_automation
from workspaces.automations.services.run_failures import SWITCH_OFF_AT_FAILURES, TOO_MANY_MESSAGES
from workspaces.contacts.models import Contact, Task
from workspaces.contacts.services import update_contact
from workspaces.conversations.facts import CommentReceived, Person
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.conversations.services import inbound
from workspaces.subaccounts.models import Channel, Workspace

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db

TEXTS = (a_step("one", "send_text", {"next": "two"}, text="Hello!"), a_step("two", "send_text", text="Still there?"))


def on_page(a: Tenant, flow: Flow) -> Channel:
    """An automation that is on for a Page of the customer's; gives the Page."""
    channel: Channel = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    automation = an_automation(a.workspace, flow=flow, platform="facebook")
    Automation.objects.filter(pk=automation.pk).update(enabled=True)
    return channel


def comment(channel: Channel, text: str = "price?") -> None:
    ada = Person(external_id="91", name="Ada L")
    told = CommentReceived(
        channel=reference(channel), person=ada, at=now(), comment_id="77_900", post_id="77", text=text
    )
    apply(inbound.receive_comments, told)
    run_due()


def test_a_comment_gets_one_private_answer_and_nothing_beyond_it(a: Tenant) -> None:
    comment(on_page(a, a_flow(*TEXTS, trigger="comment_keyword", keywords=["price"])))
    [message] = Message.objects.filter(direction="out")
    assert (message.text, message.details["comment_reply"]["comment"]) == ("Hello!", "77_900")
    run = AutomationRun.objects.get()
    assert (run.status, run.comment) == ("completed", "77_900")
    assert list(run.steps.order_by("seq").values_list("detail", flat=True)) == ["", "window_closed"]
    assert TriggerEvent.objects.get().reason == "keyword"


def test_a_comment_is_answered_in_public_and_in_private(a: Tenant) -> None:
    public = a_step("public", "reply_to_comment", {"next": "one"}, text="We wrote to you.")
    comment(on_page(a, a_flow(public, TEXTS[0], TEXTS[1], trigger="any_comment")))
    rows = Message.objects.filter(direction="out").order_by("pk").values_list("text", "details")
    assert [(text, sorted(details)) for text, details in rows] == [
        ("We wrote to you.", ["public_reply"]),
        ("Hello!", ["comment_reply"]),
    ]


def test_a_call_is_planned_once_and_its_result_goes_on_with_the_run(a: Tenant) -> None:
    call = a_step("call", "http_call", {"success": "yes", "failure": "no"}, method="GET", url="https://93.184.215.14/x")
    on(a, a_flow(call, a_step("yes", "send_text", text="It worked."), a_step("no", "send_text", text="It did not.")))
    say(a, "hello")
    run, planned = AutomationRun.objects.get(), OutsideCall.objects.get()
    assert (run.status, run.wait_kind) == ("running", "call")
    assert (planned.run_id, planned.seq, planned.run_uuid) == (run.pk, run.seq, run.uuid)
    for _ in range(2):
        record_results([CallResult(planned.pk, planned.tries, result={"status": 200, "text": "ok"})], worker=None)
        run_due()
    run.refresh_from_db()
    assert (run.status, sent()) == ("completed", ["It worked."])


def test_an_automation_starts_another_one_and_no_circle_ends_in_a_flood(a: Tenant) -> None:
    first, second = on(a, name="First"), on(a, a_flow(keywords=["never"]), name="Second")
    for one, other in ((first, second), (second, first)):
        flow = a_flow(a_step("jump", "start_automation", automation=str(other.uuid)), keywords=[f"k{one.pk}"])
        version = one.versions.create(number=2, flow=flow)
        Automation.objects.filter(pk=one.pk).update(published=version)
    say(a, f"k{first.pk}")
    assert AutomationRun.objects.count() == 6
    assert set(AutomationRun.objects.values_list("status", flat=True)) == {"completed"}
    assert not TriggerEvent.objects.filter(outcome=None).exists()
    assert TriggerEvent.objects.latest("pk").reason == "too_deep"


def test_a_contact_who_asks_for_a_person_gets_one(a: Tenant) -> None:
    on(a, a_flow(a_step("ask", "ask_question", text="When?", expects="date", save_as="day")))
    say(a, "hello")
    say(a, "I want to talk to a human", at=moment(1))
    assert AutomationPause.objects.get().conversation_id == the_conversation().pk
    assert TriggerEvent.objects.latest("pk").reason == "hand_over"
    say(a, "hello", at=moment(2))
    assert sent() == ["When?"]


def test_a_hand_over_lets_its_own_text_leave_and_keeps_automations_away(a: Tenant) -> None:
    on(a, a_flow(a_step("over", "hand_over", text="A colleague will write to you.")))
    say(a, "hello")
    say(a, "hello", at=moment(1))
    [message] = Message.objects.filter(direction="out")
    assert (message.text, message.status) == ("A colleague will write to you.", "pending")
    assert TriggerEvent.objects.latest("pk").reason == "people_have_it"


@pytest.mark.parametrize("way", ["the run", "all runs"])
def test_stopping_withdraws_the_messages_that_have_not_left(a: Tenant, way: str) -> None:
    automation = on(a, CHOICE)
    say(a, "hello")
    run = AutomationRun.objects.get()
    if way == "the run":
        stop_run(run=run, by=SYSTEM, now=now())
    else:
        assert stop_runs_of_automation(automation=automation, now=now()) == 1
    run.refresh_from_db()
    message = Message.objects.get(direction="out")
    assert (run.status, message.status, message.error_code) == ("stopped", "failed", "automation_stopped")
    assert not QueuedMessage.objects.exists()


def test_a_contact_who_writes_again_and_again_switches_nothing_off(a: Tenant) -> None:
    automation = on(a, a_flow())
    for _ in range(SWITCH_OFF_AT_FAILURES + 10):
        say(a, "hello")
    failed = AutomationRun.objects.filter(status="failed", error_code=TOO_MANY_MESSAGES)
    assert failed.count() >= SWITCH_OFF_AT_FAILURES
    automation.refresh_from_db()
    assert automation.enabled


def test_an_automation_creates_a_task_for_a_member(a: Tenant) -> None:
    email = a.workspace.owner.email
    task = a_step(
        "task", "create_task", {"next": "bye"}, title="Call {{contact.first_name}}", due_hours=24, agent=email
    )
    on(a, a_flow(task, a_step("bye", "send_text", text="We will call you.")))
    say(a, "hello")
    made, run = Task.objects.select_related("contact", "assigned_to").get(), AutomationRun.objects.get()
    assert (made.title, made.contact, made.assigned_to) == ("Call Person", Contact.objects.get(), a.workspace.owner)
    assert made.due_at == run.started_at + timedelta(hours=24)
    assert (made.created_by_kind, made.created_by_label) == ("automation", "Welcome")
    told = NotificationEvent.objects.get(kind="task.assigned")
    assert (told.only_user, told.object_id) == (made.assigned_to, str(made.uuid))
    assert (sent(), run.status, run.steps.get(node="task").detail) == (["We will call you."], "completed", "")


@pytest.mark.parametrize("open_tasks", [0, 10_000])
def test_a_task_that_is_refused_is_a_sentence_at_its_step(a: Tenant, open_tasks: int) -> None:
    fill_up(a.workspace, open_tasks)
    steps = (
        a_step("task", "create_task", {"next": "greet"}, title="Call", agent="nobody@example.com"),
        a_step("greet", "send_text", text="Hello."),
    )
    automation = on(a, a_flow(*steps))
    say(a, "hello")
    run = AutomationRun.objects.get()
    assert (sent(), run.status) == (["Hello."], "completed")
    page = dashboard_client(a.workspace).get(f"/app/automations/{automation.uuid}/runs/{run.uuid}")
    sentences = {0: "A task can only be assigned to people of this workspace.", 10_000: "There are 10,000 open tasks"}
    assert sentences[open_tasks] in text(page)
    assert Task.objects.filter(title="Call", assigned_to=None).count() == (0 if open_tasks else 1)


def test_stopping_withdraws_every_message_of_a_step(a: Tenant) -> None:
    """Messenger has no captions, so a file and its text are two messages of one step."""
    page = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    file = a_file(a, "image/png")
    steps = (
        a_step("file", "send_media", {"next": "wait"}, media=str(file.uuid), caption="Our prices"),
        a_step("wait", "wait", {}, amount=1, unit="hours"),
    )
    automation = an_automation(a.workspace, flow=a_flow(*steps), platform="facebook")
    Automation.objects.filter(pk=automation.pk).update(enabled=True)
    receive(received(page, text="hello"))
    run_due()
    assert QueuedMessage.objects.count() == 2
    stop_run(run=AutomationRun.objects.get(), by=SYSTEM, now=now())
    rows = Message.objects.filter(direction="out").order_by("pk")
    assert list(rows.values_list("type", "text", "error_code")) == [
        ("image", "", "automation_stopped"),
        ("text", "Our prices", "automation_stopped"),
    ]
    assert not QueuedMessage.objects.exists()


def test_what_the_product_refuses_does_not_end_the_run(a: Tenant) -> None:
    receive(received(a.channel, person=person(2), text="good morning"))
    update_contact(contact=Contact.objects.get(), now=now(), email="taken@example.com")
    steps = (
        a_step("mail", "set_field", {"next": "greet"}, field="email", value="taken@example.com"),
        a_step("greet", "send_text", text="Saved."),
    )
    on(a, a_flow(*steps))
    say(a, "hello")
    assert (sent(), AutomationRun.objects.get().status) == (["Saved."], "completed")


def test_a_fact_that_comes_a_day_late_is_not_answered(a: Tenant) -> None:
    on(a)
    receive(received(a.channel, text="hello"))
    TriggerEvent.objects.update(created_at=now() - timedelta(hours=25))
    run_due()
    assert (sent(), TriggerEvent.objects.get().reason) == ([], "too_late")


def test_a_suspended_workspace_is_left_until_it_is_restored(a: Tenant) -> None:
    on(a)
    receive(received(a.channel, text="hello"))
    suspended = {"status": "suspended", "suspended_at": now()}
    Workspace.objects.filter(pk=a.workspace.pk).update(**suspended)
    assert run_due() == 0
    Workspace.objects.filter(pk=a.workspace.pk).update(status="active", suspended_at=None, restored_at=now())
    run_due()
    assert sent() == ["Hello Person!"]
