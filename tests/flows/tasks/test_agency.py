"""What agency staff do every day, in few clicks and fields, in each way to use a page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.models import AgencyKey, Brand, Invitation
from packs.models import Pack
from packs.services import add_library_entry, copy_automation, create_pack
from tests.agency.console.browsers import a_member
from tests.channelconnect.agencies import switch_on
from tests.config.http.receivers import Receiver, answer
from tests.factories import PlanFactory, WorkspaceFactory, many_workspaces
from tests.flows.tasks.conftest import SignIn
from tests.flows.tasks.person import Person
from tests.images.pictures import a_picture
from tests.packs.client import an_automation
from tests.packs.small_library import BOOKING, REMINDER, REVIEWS, write_library
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def create_a_sub_account(person: Person) -> None:
    person.click("link", "New sub-account")
    person.fill("Name", "New Salon")
    person.fill("Owner's name", "Ada")
    person.fill("Owner's e-mail", "ada@new.example")
    person.choose("Plan (optional)", "Starter")
    person.click("button", "Create sub-account")
    person.sees_message("New Salon was created.")


def find(person: Person) -> None:
    person.find("corner", "Corner Salon")
    person.sees_heading("Corner Salon")


def suspend(person: Person) -> None:
    person.open("Sub-accounts")
    person.click("link", "Suspend Corner Salon")
    person.click("button", "Suspend")
    person.sees_message("Corner Salon was suspended.")
    assert Workspace.objects.get(name="Corner Salon").status == "suspended"


def change_plan(person: Person) -> None:
    person.open("Sub-accounts")
    person.click("link", "Other Salon")
    person.choose("Plan", "Starter")
    person.click("button", "Assign plan")
    person.sees_message("Other Salon")
    assert Workspace.objects.filter(name="Other Salon", plan__name="Starter").exists()


def suspend_many(person: Person) -> None:
    """There are more of them than the list shows on a page."""
    many_workspaces(person.at_hand["agency"], 6)
    with pytest.MonkeyPatch.context() as shorter:
        shorter.setattr("agency.pages.pagination.PAGE_SIZE", 3)
        shorter.setattr("agency.pages.pagination.SIZES", (3, 50, 100))
        person.open("Sub-accounts")
        person.fill("Search", "Crowd")
        person.page.keyboard.press("Enter")
        expect(person.page.get_by_role("list", name="Filters in use")).to_contain_text("Search: Crowd")
        person.tick("Select all 6 results")
        person.choose("Action for selected rows", "Suspend")
        person.click("button", "Continue")
        person.click("button", "Suspend (6)")
        person.sees_heading("Suspend")


def create_a_key(person: Person) -> None:
    person.open("API")
    person.click("link", "New API key")
    person.fill("Name", "CRM sync")
    person.click("button", "Create key")
    person.sees_heading("CRM sync was created", focused=True)
    person.copy("CRM sync")
    assert AgencyKey.objects.filter(name="CRM sync").exists()


def add_a_webhook_test_it_and_redeliver(person: Person) -> None:
    person.open("Webhooks")
    person.click("link", "Add webhook")
    person.fill("URL", person.at_hand["receiver"])
    person.tick("All events")
    person.click("button", "Add webhook")
    person.click("button", "I have kept it, send a test")
    # Until then the page loads itself anew, even if it shows the attempt already.
    expect(person.page.locator("main .facts dt", has_text="Completed")).to_be_visible()
    expect(person.page.get_by_role("heading", name="Attempt 1")).to_be_visible()
    expect(person.page.get_by_role("main")).to_contain_text("thank you")
    person.click("button", "Redeliver")
    person.sees_message("The event is being sent again.")
    assert Delivery.objects.filter(endpoint=Endpoint.objects.get()).count() == 2


def make_a_pack(person: Person) -> None:
    person.click("link", "New pack")
    person.fill("Name", "First pack")
    person.click("button", "Create pack")
    for name in ("Book a visit", "Answer reviews", "Remind of a visit"):
        person.tick(name)
    person.click("button", "Add selected")
    expect(person.page.locator("main")).to_contain_text("3 of 9")
    assert Pack.objects.get().entries.count() == 3


def have_a_pack(person: Person) -> None:
    """Give somebody the pack that the keyboard's person has made and filled."""
    pack = create_pack(agency=person.at_hand["agency"], name="First pack", by=SYSTEM)
    for item in (BOOKING, REVIEWS, REMINDER):
        add_library_entry(pack=pack, template_id=item, by=SYSTEM)
    copy_automation(pack=pack, automation=Automation.objects.get(name="Remind of a payment"), by=SYSTEM)
    person.begin(page_of_the_pack())


def home() -> str:
    return reverse("console:home")


def page_of_the_pack() -> str:
    """Where somebody who arranges a pack is: its steps are counted from there."""
    return reverse("console:pack", args=[Pack.objects.get().uuid])


def copy_from_a_sub_account(person: Person) -> None:
    person.click("link", "Copy from a sub-account")
    person.click("link", "Source Salon")
    person.click("link", "Remind of a payment")
    person.click("button", "Copy into the pack")
    person.sees_message("Remind of a payment was copied into the pack.")


def reorder(person: Person) -> None:
    person.click("button", "Move Remind of a payment up")
    expect(person.page.locator("[data-rows] h2").nth(2)).to_have_text("Remind of a payment")


def publish(person: Person) -> None:
    person.click("link", "Publish")
    person.click("button", "Publish")
    person.sees_message("First pack is published. Customers see it now.")


def connect_whatsapp(person: Person) -> None:
    """On the page of the task before, which is two clicks away from any other."""
    person.click("button", "Connect WhatsApp")
    person.sees_heading("Link for Other Salon", focused=True)


def invite(person: Person) -> None:
    person.open("Team")
    person.click("link", "Invite")
    person.fill("Name", "Grace")
    person.fill("E-mail", "grace@team.example")
    person.click("button", "Invite")
    person.sees_message("grace@team.example")
    assert Invitation.objects.get(email="grace@team.example").role == "viewer"


def set_logo_and_colour(person: Person) -> None:
    person.open("Brand")
    person.upload("File: Logo", person.at_hand["logo"])
    person.sees_message("The picture was saved.")
    person.click("button", "#0d9488")
    person.sees_message("The colour was saved.")
    assert Brand.objects.get().accent == "#0d9488"


@dataclass(frozen=True)
class Effort:
    """The clicks and fields of a task. A choice from a list is a field.

    If no page is named, the task begins with what every page has, or on the page of the task before.

    A task is also done without scripts if it uses what one of them does, or meets one that no other such task meets.
    The clicks and fields of others are the same without scripts: their links and buttons are the page's own.
    """

    clicks: int
    fields: int
    begins_at: Callable[[], str] | None = None
    more_clicks_without_scripts: int | None = None


TASKS: dict[Callable[[Person], None], Effort] = {
    create_a_sub_account: Effort(2, 4, home),
    find: Effort(1, 1, more_clicks_without_scripts=1),
    suspend: Effort(3, 0),
    change_plan: Effort(3, 1),
    connect_whatsapp: Effort(1, 0),
    create_a_key: Effort(4, 1, more_clicks_without_scripts=-1),
    add_a_webhook_test_it_and_redeliver: Effort(6, 1, more_clicks_without_scripts=0),
    make_a_pack: Effort(6, 1, home),
    copy_from_a_sub_account: Effort(4, 0, page_of_the_pack),
    reorder: Effort(1, 0, more_clicks_without_scripts=0),
    publish: Effort(2, 0, page_of_the_pack),
    invite: Effort(3, 2),
    set_logo_and_colour: Effort(3, 0, more_clicks_without_scripts=1),
    suspend_many: Effort(4, 2, more_clicks_without_scripts=0),
}


@pytest.fixture
def agency(settings: Any, tmp_path: Path, a: Tenant) -> Tenant:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    settings.PACK_LIBRARY = write_library(tmp_path / "library")
    switch_on(a)
    PlanFactory.create(agency=a.agency, name="Starter")
    for name in ("Corner Salon", "Other Salon"):
        WorkspaceFactory.create(agency=a.agency, name=name)
    Workspace.objects.filter(name="Corner Salon").update(owner_email="ada@corner.example", limits=unlimited())
    an_automation(WorkspaceFactory.create(agency=a.agency, name="Source Salon"), name="Remind of a payment")
    return a


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    listening = Receiver(answer(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nthank you"))
    yield listening
    listening.close()


@pytest.mark.usefixtures("dispatcher")
def test_each_task_of_the_agency_s_takes_few_clicks_and_fields(
    person_at: SignIn, agency: Tenant, receiver: Receiver, tmp_path: Path
) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(a_picture(480, 100))
    at_hand = {"agency": agency.agency, "receiver": f"http://127.0.0.1:{receiver.port}/in", "logo": logo}
    person = person_at(a_member(agency.agency, "owner").user, at_hand=at_hand)
    (do_all if person.has_scripts else do_what_differs)(person)


def do_all(person: Person) -> None:
    met: dict[bool, set[str]] = {True: set(), False: set()}
    for task, effort in TASKS.items():
        if effort.begins_at:
            person.begin(effort.begins_at())
        else:
            person.begin_here()
        task(person)
        assert (person.clicks, person.fields) == (effort.clicks, effort.fields), task.__name__
        met[effort.more_clicks_without_scripts is not None] |= person.scripts
        person.scripts.clear()
    assert met[False] <= met[True], "a task that is not done without scripts meets one of its own"


def do_what_differs(person: Person) -> None:
    person.begin()
    for task, effort in TASKS.items():
        if effort.more_clicks_without_scripts is not None:
            if task is reorder:
                have_a_pack(person)
            person.begin_here()
            task(person)
            clicks = effort.clicks + effort.more_clicks_without_scripts
            assert (person.clicks, person.fields) == (clicks, effort.fields), task.__name__
