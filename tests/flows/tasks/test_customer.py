"""What customers do, in few clicks and fields, in each way to use a page."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.tasks import send_mail
from broadcasts.models import Broadcast
from packs.services import change_pack, copy_automation, create_pack
from tests.factories import (
    ChannelFactory,
    ContactFactory,
    SegmentFactory,
    StaffFactory,
    WorkspaceFactory,
    a_message_template,
)
from tests.factories.flows import a_birthday_flow
from tests.flows.tasks.conftest import SignIn
from tests.flows.tasks.person import Person
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import WELCOME, write_library
from tests.tenants import Tenant
from tests.workspaces.automations.ready import make_ready
from tests.workspaces.automations.runs import a_run
from tests.workspaces.conversations.facts import receive, received
from workspaces.automations.models import Automation, AutomationPause
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel, Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a-new-battery-staple"


@pytest.fixture(autouse=True)
def _library(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """A new customer, who is invited; their agency has connected their number and offers two packs."""
    PackClient(a).with_entries(WELCOME, name="Welcome pack", status="published")
    source = an_automation(WorkspaceFactory.create(agency=a.agency), flow=a_birthday_flow(), name="Booking")
    pack = create_pack(agency=a.agency, name="Booking pack", by=SYSTEM)
    copy_automation(pack=pack, automation=source, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    outbox.outbox = []
    made: Workspace = WorkspaceFactory.create(agency=a.agency, owner_email="new@customer.example")
    ChannelFactory.create(workspace=made)
    Automation.objects.filter(workspace=made).delete()
    return made


def invitation() -> str:
    send_mail()
    found = [re.search(r"(/account/\S+)", str(one.body)) for one in outbox.outbox if "new@customer.example" in one.to]
    assert found[-1]
    return found[-1][1]


def accept_the_invitation(person: Person) -> None:
    person.begin(invitation())
    person.clicks = 1  # the link in the e-mail
    for field in person.page.locator("input[type=password]").all():
        person.type_into(field, PASSWORD)
    person.click("button", "Set the password")
    expect(person.page.get_by_role("heading", name="First steps")).to_be_visible()


def switch_a_first_automation_on(person: Person) -> None:
    person.click("link", "Gallery: Set an automation up")
    person.click("link", "Welcome pack")
    person.click("button", "Install")
    person.sees_message("added")
    person.click("link", "Open Welcome everybody")
    person.click("button", "Switch on")
    person.sees_message("Welcome everybody is on.")


def install_a_pack_and_set_an_automation_up(person: Person, colleague: str) -> None:
    person.begin_here()
    person.open("Gallery")
    person.click("link", "Booking pack")
    person.click("button", "Install")
    person.sees_message("added")
    person.click("link", "Open Booking")
    person.fill("Text", "Call us whenever you like.")
    person.choose("Calendar", "Hairdresser")
    person.choose("Person", colleague)
    person.fill("Web address", "https://second-salon.example/")
    person.click("button", "Save and switch on")
    person.sees_message("Booking is on.")


def answer_a_message(person: Person) -> None:
    person.begin("/app/inbox")
    person.press(person.page.locator(".inbox-row", has_text="Person 1"))
    person.fill("Reply to Person 1", "Yes, until six.")
    person.click("button", "Send")
    expect(person.page.locator(".bubble.out")).to_contain_text("Yes, until six.")


def let_automations_answer_again(person: Person) -> None:
    """From the inbox, where the conversation is one click away."""
    person.page.reload()
    person.clicks, person.fields = 1, 0
    expect(person.page.get_by_text("Automations are paused here")).to_be_visible()
    person.click("button", "Resume automations")
    expect(person.page.get_by_text("Automations are paused here")).to_have_count(0)


def stop_an_automation_for_a_contact(person: Person, name: str) -> None:
    person.begin_here()
    person.open("Contacts")
    person.click("link", "Person 1")
    person.click("button", f"Stop {name}")
    person.sees_message(f"{name} was stopped for this contact.")


def send_a_broadcast(person: Person) -> None:
    person.begin()
    person.open("Broadcasts")
    person.click("link", "New broadcast")
    person.fill("Name", "Autumn sale")
    person.choose("Message", "sale · en")
    person.tick("A segment")
    person.choose("Segment", "Regulars")
    person.click("button", "Review")
    person.sees_heading("Review before sending")
    person.click("link", "Send to 1 now")
    person.press(person.page.get_by_role("button", name="Send to 1 now"))
    person.sees_message("The broadcast is being sent.")
    assert Broadcast.objects.get().status == Broadcast.Status.SCHEDULED


def test_a_broadcast_to_a_segment_takes_few_clicks(person_at: SignIn, customer: Workspace) -> None:
    person = person_at(customer.owner, home="/app/", menu="Dashboard")
    channel = Channel.objects.get(workspace=customer)
    a_message_template(channel)
    SegmentFactory.create(workspace=customer, name="Regulars")
    ContactFactory.create(workspace=customer, phone="+493012345", tags=["VIP"])
    send_a_broadcast(person)
    # The last one confirms to how many it goes.
    assert (person.clicks, person.fields) == (6, 3)


def test_a_new_customer_gets_an_automation_going_in_few_clicks(
    person_at: SignIn, customer: Workspace, live_server: LiveServer, settings: Any
) -> None:
    """The beginning and the end need no script that the rest does not need, so only the keyboard's person does them."""
    settings.PUBLIC_URL = live_server.url
    person = person_at(home="/app/", menu="Dashboard")
    if person.has_scripts:
        begin(person, customer)
    else:
        person = person_at(customer.owner, home="/app/", menu="Dashboard")
        person.begin()
    met = take(person.scripts)
    go_on(person, customer)
    met_in_between = take(person.scripts)
    if person.has_scripts:
        end(person, customer)
    assert met | person.scripts <= met_in_between, "what has scripts of its own must also be done without them"


def take(scripts: set[str]) -> set[str]:
    taken = set(scripts)
    scripts.clear()
    return taken


def begin(person: Person, customer: Workspace) -> None:
    accept_the_invitation(person)
    switch_a_first_automation_on(person)
    assert Automation.objects.get(workspace=customer).enabled
    assert person.clicks == 7


def go_on(person: Person, customer: Workspace) -> None:
    StaffFactory.create(workspace=customer, name="Hairdresser")
    make_ready(customer, "availability", "payment")
    ContactFactory.create(workspace=customer)
    owner = customer.owner
    install_a_pack_and_set_an_automation_up(person, f"{owner.name} ({owner.email})" if owner.name else owner.email)
    assert (person.clicks, person.fields) == (5, 4)

    receive(received(Channel.objects.get(), text="Are you open today?"))
    answer_a_message(person)
    assert (person.clicks, person.fields) == (2, 1)
    assert Message.objects.get(direction="out").text == "Yes, until six."
    assert AutomationPause.objects.get().conversation_id == Message.objects.get(direction="in").conversation_id
    let_automations_answer_again(person)
    assert (person.clicks, person.fields) == (2, 0)
    assert not AutomationPause.objects.exists()


def end(person: Person, customer: Workspace) -> None:
    message = Message.objects.select_related("conversation__contact").get(direction="in")
    booking = Automation.objects.select_related("published", "workspace").get(name="Booking", workspace=customer)
    run = a_run(booking, message.conversation.contact, channel=Channel.objects.get())
    stop_an_automation_for_a_contact(person, "Booking")
    run.refresh_from_db()
    assert (run.status, person.clicks, person.fields) == ("stopped", 3, 0)
