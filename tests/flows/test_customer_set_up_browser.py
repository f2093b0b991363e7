"""In a real browser: how few clicks a new customer needs, with and without scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.tasks import send_mail
from packs.services import change_pack, copy_automation, create_pack
from tests.factories import ChannelFactory, ServiceFactory, StaffFactory, WorkspaceFactory
from tests.flow_factories import a_customers_flow
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import WELCOME, write_library
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.automations.services import change_readiness
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a-new-battery-staple"


class Clicks:
    """A person at a page: counts what they click and what they fill in."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.fields = page, 0, 0

    def click(self, role: Any, name: str) -> None:
        self.page.get_by_role(role, name=name).first.click()
        self.clicks += 1

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label).first.fill(text)
        self.fields += 1

    def choose(self, label: str, option: str) -> None:
        self.page.get_by_label(label).first.select_option(label=option)
        self.fields += 1

    def counted(self) -> tuple[int, int]:
        done, self.clicks, self.fields = (self.clicks, self.fields), 0, 0
        return done


@pytest.fixture(autouse=True)
def _library(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """A new customer, who is invited; their agency has connected their number and offers two packs."""
    PackClient(a.api).with_entries(WELCOME, name="Welcome pack", status="published")
    source = an_automation(WorkspaceFactory.create(agency=a.agency), flow=a_customers_flow(), name="Booking")
    pack = create_pack(agency=a.agency, name="Booking pack", by=SYSTEM)
    copy_automation(pack=pack, automation=source, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    outbox.outbox = []
    made: Workspace = WorkspaceFactory.create(agency=a.agency, owner_email="new@customer.example")
    ChannelFactory.create(workspace=made)
    Automation.objects.filter(workspace=made).delete()
    return made


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def person(request: Any, browser: Browser, live_server: LiveServer, settings: Any) -> Iterator[Clicks]:
    settings.PUBLIC_URL = live_server.url
    context = browser.new_context(base_url=live_server.url, java_script_enabled=request.param)
    yield Clicks(context.new_page())
    context.close()


def invitation() -> str:
    send_mail()
    found = [re.search(r"(/account/\S+)", str(one.body)) for one in outbox.outbox if "new@customer.example" in one.to]
    assert found[-1]
    return found[-1][1]


def test_a_new_customer_gets_an_automation_going_in_few_clicks(person: Clicks, customer: Workspace) -> None:
    page = person.page
    page.goto(invitation())
    person.clicks = 1  # the link in the e-mail
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    person.click("button", "Set the password")
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    person.click("link", "Gallery: Set an automation up")
    person.click("link", "Welcome pack")
    person.click("button", "Install")
    person.click("link", "Open Welcome everybody")
    person.click("button", "Switch on")
    expect(page.get_by_text("Welcome everybody is on.")).to_be_visible()
    assert Automation.objects.get(workspace=customer).enabled
    clicks, _ = person.counted()
    assert clicks == 7 <= 12

    StaffFactory.create(workspace=customer, name="Hairdresser")
    change_readiness(workspace=customer, availability=True, payment=True, by=SYSTEM)
    ServiceFactory.create(workspace=customer)
    person.click("link", "Gallery")
    person.click("link", "Booking pack")
    person.click("button", "Install")
    person.click("link", "Open Booking")
    person.fill("Text", "Call us whenever you like.")
    person.choose("Calendar", "Hairdresser")
    person.choose("Person", "Hairdresser")
    person.fill("Web address", "https://second-salon.example/")
    person.click("button", "Save and switch on")
    expect(page.get_by_text("Booking is on.")).to_be_visible()
    clicks, fields = person.counted()
    assert (clicks, fields) == (5, 4)
