"""The pages about runs: their list, one run, and what a contact's page and the inbox say of automations."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, ContactFactory, WorkspaceFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_count, a_run, a_step_of, an_ended_run
from tests.workspaces.conversations.facts import a_conversation, receive, received
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation, AutomationPause, AutomationRun, TriggerEvent
from workspaces.automations.services import enable_automation
from workspaces.automations.tasks import delete_removed
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel, Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
FLOW = a_flow(
    a_step("ask", "send_buttons", {"button_1": "thank"}, text="Again?", buttons=[{"title": "Yes"}, {"title": "No"}]),
    a_step("thank", "send_text", text="Thank you"),
)


@pytest.fixture
def channel(a: Tenant) -> Channel:
    made: Channel = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency))
    return made


@pytest.fixture
def customer(channel: Channel) -> Workspace:
    return channel.workspace


@pytest.fixture
def owner(customer: Workspace) -> Client:
    return dashboard_client(customer)


@pytest.fixture
def automation(customer: Workspace) -> Automation:
    return enable_automation(automation=an_automation(customer, name="Booking", flow=FLOW), now=now(), by=SYSTEM)


def a_contact(customer: Workspace, name: str = "Ada") -> Contact:
    made: Contact = ContactFactory.create(workspace=customer, name=name)
    return made


def page_of(automation: Automation, *parts: object) -> str:
    return "/".join(["/app/automations", str(automation.uuid), "runs", *map(str, parts)])


def test_runs_are_listed_and_narrowed_at_the_same_cost(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    a_run(automation, a_contact(customer, "Ada"), channel=channel)
    an_ended_run(automation, a_contact(customer, "Ben"), channel=channel, status="failed", error_node="thank")

    def shown(query: str = "") -> str:
        return text(owner.get(f"{page_of(automation)}?{query}"))

    assert "Ada Waiting Waiting for a set time. Step 1: Send buttons" in shown()
    assert "Ben Failed The window is closed. Step 2: Send a text" in shown()
    assert "Ada" not in shown("state=failed")
    assert "Ben" not in shown("search=ad")
    assert "No run matches" in shown("state=perhaps")
    with CaptureQueriesContext(connection) as few:
        shown()
    for number in range(6):
        an_ended_run(automation, a_contact(customer, f"No. {number}"), channel=channel)
    with CaptureQueriesContext(connection) as many:
        shown()
    assert len(many) == len(few)


def test_a_run_is_shown_in_words_and_stopped(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    conversation = a_conversation(channel)
    sent = Message.objects.create(
        workspace_id=customer.pk,
        channel_id=channel.pk,
        conversation=conversation,
        direction="out",
        type="text",
        status="sent",
        provider_time=now(),
    )
    run = a_run(automation, conversation.contact, channel=channel, node="thank", seq=2, wait_kind="reply")
    a_step_of(run, 1, "ask", "button_1", message_id=sent.pk)
    a_step_of(run, 2, "thank")
    page = owner.get(page_of(automation, run.uuid))
    assert "Step 1: Send buttons" in text(page)
    assert "Yes · The message" in text(page)
    assert f"/app/inbox/{conversation.uuid}#message-{sent.uuid}" in page.content.decode()
    stopped = owner.post(page_of(automation, run.uuid, "stop"), follow=True)
    assert "Booking was stopped for this contact." in text(stopped)
    assert "A person stopped it." in text(stopped)
    again = owner.post(page_of(automation, run.uuid, "stop"), follow=True)
    assert "This run has ended." in text(again)
    foreign = a_foreign_run(channel)
    assert owner.get(page_of(foreign.automation, foreign.uuid)).status_code == 404
    assert owner.get(page_of(automation, foreign.uuid)).status_code == 404


def a_foreign_run(channel: Channel) -> AutomationRun:
    other: Channel = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=channel.workspace.agency))
    return a_run(an_automation(other.workspace), a_contact(other.workspace), channel=other)


def test_a_failed_run_is_tried_again(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    run = an_ended_run(automation, a_contact(customer), channel=channel, status="failed", error_node="thank")
    assert "Try again" in text(owner.get(page_of(automation, run.uuid)))
    retried = owner.post(page_of(automation, run.uuid, "retry"), follow=True)
    assert "It continues from the step that failed." in text(retried)
    run.refresh_from_db()
    assert (run.status, run.node) == ("running", "thank")


def test_an_automation_shows_what_happened_at_each_step(owner: Client, automation: Automation) -> None:
    counted: list[tuple[str, str, int]] = [
        ("", "started", 7), ("", "failed", 2), ("ask", "", 7), ("ask", "button_1", 4), ("ask", "button_2", 1),
    ]  # fmt: skip
    for node, port, number in counted:
        a_count(automation, number, node=node, port=port)
    shown = text(owner.get(f"/app/automations/{automation.uuid}"))
    assert "Started 7 Completed 0 Stopped 0 Failed 2" in shown
    assert "Step 1: Send buttons : 7 Yes: 4 · No: 1" in shown


def test_switching_off_stops_runs_only_if_that_is_asked_for(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    page, off = f"/app/automations/{automation.uuid}", f"/app/automations/{automation.uuid}/off"
    assert "Switch off and stop its runs" not in text(owner.get(page))
    for name in ("Ada", "Ben"):
        a_run(automation, a_contact(customer, name), channel=channel)
    assert "Switch off and stop its runs" in text(owner.get(page))
    assert "Booking is off." in text(owner.post(off, follow=True))
    assert AutomationRun.objects.active().count() == 2
    stopped = owner.post(off, {"stop_runs": "yes"}, follow=True)
    assert "Booking is off, and 2 runs were stopped." in text(stopped)
    assert not AutomationRun.objects.active().exists()


def test_an_automation_is_removed_with_its_runs(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    a_step_of(a_run(automation, a_contact(customer), channel=channel), 1, "ask")
    a_count(automation, 1, port="started")
    owner.post(f"/app/automations/{automation.uuid}/remove")
    assert not Automation.objects.filter(pk=automation.pk).exists()
    delete_removed()
    assert not Automation.with_removed.filter(pk=automation.pk).exists()
    assert not AutomationRun.objects.exists()


def test_a_contact_shows_its_runs_with_a_way_to_stop_them(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    contact = a_contact(customer)
    address = f"/app/contacts/{contact.uuid}"
    assert "No automation has run for this contact yet." in text(owner.get(address))
    run = a_run(automation, contact, channel=channel)
    assert "Booking Waiting" in text(owner.get(address))
    stopped = owner.post(f"{page_of(automation, run.uuid, 'stop')}?next={address}")
    assert stopped.headers["Location"] == address
    assert "Booking Stopped" in text(owner.get(address))


def test_the_inbox_says_what_automations_made_of_a_message(
    owner: Client, customer: Workspace, channel: Channel, automation: Automation
) -> None:
    receive(*(received(channel, text=said, at=now()) for said in ("book", "hm")))
    answered, left = Message.objects.filter(channel_id=channel.pk).order_by("pk")
    run = a_run(automation, answered.conversation.contact, channel=channel)
    for message, outcome, reason in ((answered, "started", "keyword"), (left, "nothing", "no_match")):
        TriggerEvent.objects.filter(message_id=message.pk).update(
            outcome=outcome,
            reason=reason,
            automation_id=automation.pk if outcome == "started" else None,
            run_id=run.pk if outcome == "started" else None,
        )
    address = f"/app/inbox/{answered.conversation.uuid}"
    page = owner.get(address)
    assert "Automation “Booking”: The text has a keyword of the automation." in text(page)
    assert f'href="{page_of(automation, run.uuid)}"' in page.content.decode()
    assert "No automation replied. No automation fits." in text(page)


def test_a_pause_is_shown_and_ended_by_people_of_the_workspace(owner: Client, channel: Channel, b: Tenant) -> None:
    conversation = a_conversation(channel)
    AutomationPause.objects.create(
        conversation_id=conversation.pk, workspace_id=conversation.workspace_id, reason="by_hand"
    )
    address = f"/app/inbox/{conversation.uuid}"
    resume = f"{address}/resume-automations"
    assert "Automations are paused here until the conversation is closed." in text(owner.get(address))
    stranger: Any = dashboard_client(b.workspace)
    assert stranger.post(resume).status_code == 404
    assert AutomationPause.objects.count() == 1
    assert "Automations are paused" not in text(owner.post(resume, follow=True))
    assert not AutomationPause.objects.exists()
