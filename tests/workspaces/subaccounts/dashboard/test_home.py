"""The dashboard's home page: what comes next, what needs attention, what is used of the plan."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.broadcasts.under_way import a_broadcast
from tests.factories import (
    ChannelFactory,
    ClassSessionFactory,
    ContactFactory,
    PlanFactory,
    ServiceFactory,
    WorkspaceFactory,
    plan_limits,
)
from tests.factories.appointments import AppointmentFactory
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, member_client
from workspaces.automations.models import Automation
from workspaces.automations.services import enable_automation
from workspaces.classes.models import ClassSession
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import Content, send_message
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import change_workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
STEPS = (
    "Connect a channel",
    "Fill in your business details",
    "Set an automation up",
    "Switch it on",
    "Bring your contacts",
    "Send a first message",
)


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """A workspace with nothing in it."""
    Automation.objects.all().delete()
    plan = PlanFactory.create(agency=a.agency, name="Starter", limits=plan_limits(contacts=10))
    return WorkspaceFactory.create(agency=a.agency, plan=plan)


def home(browser: Client) -> Any:
    answer = browser.get("/app/")
    assert answer.status_code == 200
    return answer


def emphasised(answer: Any) -> list[str]:
    return re.findall(r'<a class="button primary"[^>]*aria-label="[^":]*: ([^"]*)"', answer.content.decode())


def done(answer: Any) -> list[str]:
    return [step for step in STEPS if f"{step} Done." in text(answer)]


def test_one_step_after_another_is_ticked_as_it_is_done_and_the_next_one_emphasised(customer: Workspace) -> None:
    owner = dashboard_client(customer)
    assert (done(home(owner)), emphasised(home(owner))) == ([], [STEPS[0]])
    channel = ChannelFactory.create(workspace=customer)
    Automation.objects.all().delete()
    assert emphasised(home(owner)) == [STEPS[1]]
    change_workspace(workspace=customer, address="Main Street 1", by=SYSTEM)
    assert emphasised(home(owner)) == [STEPS[2]]
    automation = an_automation(customer, published=False)
    assert (done(home(owner)), emphasised(home(owner))) == ([*STEPS[:2]], [STEPS[2]])
    automation.delete()
    automation = an_automation(customer)
    assert emphasised(home(owner)) == [STEPS[3]]
    enable_automation(automation=automation, now=now(), by=SYSTEM)
    assert emphasised(home(owner)) == [STEPS[4]]
    conversation = a_conversation(channel)
    assert emphasised(home(owner)) == [STEPS[5]]
    send_message(conversation=conversation, content=Content(text="Hello"), by=SYSTEM, now=now())
    assert (done(home(owner)), emphasised(home(owner))) == ([*STEPS], [])
    assert "Everything is set up." in text(home(owner))


def test_what_automations_say_of_the_business_is_asked_for_until_it_is_there(customer: Workspace) -> None:
    change_workspace(workspace=customer, address="Main Street 1", by=SYSTEM)
    automation = an_automation(customer)
    automation.draft["steps"][0]["config"]["text"] = "We are open {{workspace.opening_hours}}."
    automation.save()
    assert STEPS[1] not in done(home(dashboard_client(customer)))
    change_workspace(workspace=customer, opening_hours={"monday": [["09:00", "17:00"]]}, by=SYSTEM)
    assert STEPS[1] in done(home(dashboard_client(customer)))


def test_the_steps_are_hidden_for_everybody_and_shown_again(customer: Workspace) -> None:
    owner = dashboard_client(customer)
    answer = owner.post("/app/first-steps", {"hide": "1"}, follow=True)
    assert flashes(answer) == ["The first steps are hidden."]
    assert STEPS[0] not in text(home(member_client(customer)))
    assert ActivityEntry.objects.get(action="workspace.changed").changes == {"first_steps_hidden": [False, True]}
    owner.post("/app/first-steps")
    assert STEPS[0] in text(home(owner))


def test_whoever_may_only_look_sees_the_steps_without_their_buttons(customer: Workspace) -> None:
    shown = home(agency_client(customer, "viewer"))
    assert STEPS[0] in text(shown)
    assert emphasised(shown) == []
    assert "Hide the first steps" not in text(shown)


def test_what_needs_attention_stands_first_and_leads_to_where_it_is_put_right(customer: Workspace) -> None:
    channel = ChannelFactory.create(workspace=customer, name="Front desk")
    automation = an_automation(customer, name="Greeting")
    enable_automation(automation=automation, now=now(), by=SYSTEM)
    assert "Needs attention" not in text(home(dashboard_client(customer)))
    Channel.objects.filter(pk=channel.pk).update(status=Channel.Status.ERROR)
    for _ in range(10):
        ContactFactory.create(workspace=customer)
    shown = text(home(dashboard_client(customer)))
    concerns = shown[shown.index("Needs attention") : shown.index("First steps")]
    assert "Front desk is disconnected. No messages come in" in concerns
    assert "Greeting is on, but something is missing." in concerns
    assert "Your plan has no room left: 10 of 10 contacts are used." in concerns
    assert f'href="/app/automations/{automation.uuid}"' in home(dashboard_client(customer)).content.decode()


def test_what_is_used_stands_against_the_plan_without_rows_of_nothing(customer: Workspace) -> None:
    ContactFactory.create(workspace=customer)
    shown = text(home(dashboard_client(customer)))
    assert "Plan: Starter" in shown
    assert "Contacts 1 10" in shown


@pytest.fixture
def at_noon(customer: Workspace) -> Workspace:
    """By whose clock it is about noon, so that no test runs across midnight."""
    customer.timezone = f"Etc/GMT{now().hour - 12:+d}"
    customer.save(update_fields=["timezone"])
    return customer


def section_of(answer: Any, name: str) -> str:
    """What a section says; "" if it is not there."""
    _, _, shown = answer.content.decode().partition(f'<section class="panel" aria-labelledby="section-{name}">')
    return " ".join(re.sub(r"<[^>]*>", " ", shown.partition("</section>")[0]).split())


def test_conversations_that_wait_for_a_reply_stand_there_with_the_oldest_first(customer: Workspace) -> None:
    owner = dashboard_client(customer)
    assert section_of(home(owner), "unanswered") == ""
    made = [a_conversation(ChannelFactory.create(workspace=customer)) for _ in range(9)]
    for hours, one in enumerate(made, start=1):
        at = now() - timedelta(hours=hours)
        Conversation.objects.filter(pk=one.pk).update(last_message_at=at, last_message_preview=f"Since {hours} h")
    answered, snoozed, closed = (Conversation.objects.filter(pk=one.pk) for one in made[6:])
    answered.update(last_message_direction="out")
    snoozed.update(snoozed_until=now() + timedelta(hours=1))
    closed.update(status=Conversation.Status.CLOSED)
    shown = section_of(home(owner), "unanswered")
    assert "6 conversations wait for your reply. The oldest message came 6 hours ago." in shown
    assert re.findall(r"Since (\d) h", shown) == ["6", "5", "4", "3", "2"]


def test_what_happens_today_and_next_stands_there_without_what_is_later_or_over(at_noon: Workspace) -> None:
    hour = timedelta(hours=1)
    for name, begins in (("Yoga", -hour / 2), ("Over", -2 * hour), ("Later", 30 * hour)):
        service = ServiceFactory.create(workspace=at_noon, name=name, kind="class")
        made = ClassSessionFactory.create(workspace=at_noon, service=service)
        ClassSession.objects.filter(pk=made.pk).update(starts_at=now() + begins, ends_at=now() + begins + hour)
    for name, begins in (("Ada", 2 * hour), ("Bea", 30 * hour)):
        contact = ContactFactory.create(workspace=at_noon, name=name)
        starts_at = (now() + begins).replace(minute=0, second=0, microsecond=0)
        AppointmentFactory.create(workspace=at_noon, contact=contact, starts_at=starts_at)
    channel = ChannelFactory.create(workspace=at_noon)
    for number in range(7):
        a_broadcast(channel=channel, name=f"Sale {number}", status="Scheduled", due_at=now() + number * hour)
    shown = home(dashboard_client(at_noon))
    classes, appointments = section_of(shown, "classes"), section_of(shown, "appointments")
    assert "Yoga" in classes
    assert "0 of 10 seats taken" in classes
    assert not re.search("Over|Later", classes)
    assert "Ada" in appointments
    assert "Bea" not in appointments
    assert re.findall(r"Sale \d", section_of(shown, "broadcasts")) == [f"Sale {number}" for number in range(5)]
    Workspace.objects.filter(pk=at_noon.pk).update(limits=plan_limits(broadcasts_per_month=0))
    assert section_of(home(dashboard_client(at_noon)), "broadcasts") == ""


def test_limits_that_are_not_used_yet_are_folded(customer: Workspace) -> None:
    ContactFactory.create(workspace=customer)
    limits = plan_limits(contacts=10, broadcasts_per_month=4, **{"channels.sms": 0})
    Workspace.objects.filter(pk=customer.pk).update(limits=limits)
    shown = text(home(dashboard_client(customer)))
    used, _, unused = shown.partition("Show the limits that you do not use yet")
    assert "Contacts 1 10" in used
    assert "Broadcasts per month 0 4" in unused
    assert "SMS" not in shown


def test_the_page_costs_the_same_however_much_there_is(customer: Workspace) -> None:
    owner = dashboard_client(customer)

    def furnish(times: int) -> None:
        for number in range(times):
            channel = ChannelFactory.create(workspace=customer)
            a_conversation(channel)
            automation = an_automation(customer, name=f"Automation {number}")
            enable_automation(automation=automation, now=now(), by=SYSTEM)

    def queries() -> int:
        """Count them at once: the next request empties the log that a `CaptureQueriesContext` reads."""
        home(owner)
        with CaptureQueriesContext(connection) as captured:
            home(owner)
        return len(captured)

    furnish(1)
    few = queries()
    furnish(5)
    assert queries() == few <= 28
    owner.post("/app/first-steps", {"hide": "1"}, follow=True)
    assert queries() < few


def menu_of(answer: Any) -> list[tuple[str, list[str]]]:
    """The menu's sections, each with its heading and its entries."""
    shown = answer.content.decode()
    menu = shown[shown.index('<nav class="menu"') : shown.index("</nav>")]
    parts = menu.split('<div class="menu-section">')[1:]
    headings = ["".join(re.findall(r"<h2>(.*?)</h2>", part)) for part in parts]
    return list(zip(headings, (re.findall(r'<a href="/app/([^"]*)"', part) for part in parts), strict=True))


def test_the_menu_has_few_groups_and_leaves_out_what_the_plan_lacks(customer: Workspace) -> None:
    owner = dashboard_client(customer)
    groups = menu_of(home(owner))
    assert [heading for heading, _ in groups] == ["", "Sales", "Automation", "Settings"]
    assert groups[0][1] == ["", "inbox", "contacts", "tasks", "segments", "broadcasts", "calendar", "classes"]
    assert groups[1][1] == ["products", "services", "invoices", "payments", "payouts", "finance"]
    Workspace.objects.filter(pk=customer.pk).update(limits=plan_limits(broadcasts_per_month=0))
    assert "broadcasts" not in menu_of(home(owner))[0][1]
    assert "broadcasts" in menu_of(owner.get("/app/broadcasts"))[0][1]


def test_the_menu_says_how_many_open_conversations_are_unread(customer: Workspace) -> None:
    owner = dashboard_client(customer)
    assert "Inbox Contacts" in text(home(owner))
    unread, _, closed = [a_conversation(ChannelFactory.create(workspace=customer)) for _ in range(3)]
    Conversation.objects.update(unread_count=0)
    Conversation.objects.filter(pk__in=[unread.pk, closed.pk]).update(unread_count=2)
    Conversation.objects.filter(pk=closed.pk).update(status=Conversation.Status.CLOSED)
    assert "Inbox 1 unread Contacts" in text(home(owner))
    with CaptureQueriesContext(connection) as captured:
        owner.get("/app/settings")
    assert sum("conversations_conversation" in one["sql"] for one in captured) == 1
    assert sum("agency_notification" in one["sql"] for one in captured) == 1
