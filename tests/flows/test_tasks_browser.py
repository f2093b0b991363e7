"""What agency staff do every day, in few clicks and fields."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from agency.limits import unlimited
from agency.models import AgencyKey, Invitation
from packs.models import Pack
from tests.agency.console.browsers import at_the_console
from tests.channelconnect.agencies import switch_on
from tests.factories import PlanFactory, WorkspaceFactory
from tests.flows.person import Person
from tests.packs.small_library import write_library
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint
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
    person.open("Sub-accounts")
    person.fill("Search", "Bulk")
    person.click("button", "Show")
    person.tick("All 30 that match")
    person.click("button", "Continue")
    person.click("button", "Suspend (30)")
    person.sees_heading("Suspend")


def create_a_key(person: Person) -> None:
    person.open("API")
    person.click("link", "New API key")
    person.fill("Name", "CRM sync")
    person.click("button", "Create key")
    person.sees_heading("CRM sync was created", focused=True)
    person.click("button", "Copy CRM sync")
    assert AgencyKey.objects.filter(name="CRM sync").exists()


def add_a_webhook(person: Person) -> None:
    person.open("Webhooks")
    person.click("link", "Add webhook")
    person.fill("URL", "http://127.0.0.1:9009/in")
    person.tick("All events")
    person.click("button", "Add webhook")
    person.click("link", "I have kept it")
    person.click("button", "Send test")
    expect(person.page.get_by_role("main")).to_contain_text("Pending")
    assert Delivery.objects.get().endpoint == Endpoint.objects.get()


def make_a_pack(person: Person) -> None:
    person.open("Packs")
    person.click("link", "New pack")
    person.fill("Name", "First pack")
    person.click("button", "Create pack")
    for name in ("Book a visit", "Answer reviews", "Remind of a visit"):
        person.tick(name)
    person.click("button", "Add the chosen ones")
    expect(person.page.locator("main")).to_contain_text("3 of 9")
    assert Pack.objects.get().entries.count() == 3


def connect_whatsapp(person: Person) -> None:
    person.open("Sub-accounts")
    person.click("link", "Other Salon")
    person.click("button", "Connect WhatsApp")
    person.sees_heading("A link for Other Salon", focused=True)


def invite(person: Person) -> None:
    person.open("Team")
    person.click("link", "Invite")
    person.fill("Name", "Grace")
    person.fill("E-mail", "grace@team.example")
    person.tick("Viewer")
    person.click("button", "Invite")
    person.sees_message("grace@team.example")
    assert Invitation.objects.filter(email="grace@team.example").exists()


# The most clicks and fields of each task, from home. A choice from a list is a field.
TASKS: dict[Callable[[Person], None], tuple[int, int]] = {
    create_a_sub_account: (2, 4),
    suspend: (3, 0),
    change_plan: (3, 1),
    suspend_many: (5, 1),
    create_a_key: (4, 1),
    add_a_webhook: (6, 1),
    make_a_pack: (7, 1),
    connect_whatsapp: (3, 0),
    invite: (4, 2),
}


@pytest.fixture
def agency(settings: Any, tmp_path: Path, a: Tenant) -> Tenant:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    settings.PACK_LIBRARY = write_library(tmp_path / "library")
    switch_on(a)
    PlanFactory.create(agency=a.agency, name="Starter")
    for name in (*(f"Bulk {number}" for number in range(30)), "Corner Salon", "Other Salon"):
        WorkspaceFactory.create(agency=a.agency, name=name)
    Workspace.objects.filter(name="Corner Salon").update(owner_email="ada@corner.example", limits=unlimited())
    return a


@pytest.fixture
def person_at(browser: Browser, live_server: LiveServer, agency: Tenant) -> Iterator[Callable[..., Person]]:
    """Sit somebody down at home; what a page complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def sit_down() -> Person:
        session = at_the_console(agency.agency, "owner").cookies[project.SESSION_COOKIE_NAME].value
        context = browser.new_context(base_url=live_server.url, permissions=["clipboard-write"])
        contexts.append(context)
        context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        context.set_default_timeout(8_000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return Person(page)

    yield sit_down
    for context in contexts:
        context.close()
    assert complaints == []


def test_each_task_takes_few_clicks_and_fields(person_at: Callable[..., Person]) -> None:
    person = person_at()
    taken = {}
    for task in TASKS:
        person.begin()
        task(person)
        taken[task] = (person.clicks, person.fields)
    assert taken == TASKS
