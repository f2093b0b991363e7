"""In a real browser: one customer's automation becomes a pack, and another customer puts it to work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from packs.models import Pack
from tests.agency.console.browsers import a_member
from tests.factories import ChannelFactory, ContactFactory, StaffFactory, WorkspaceFactory
from tests.factories.flows import a_birthday_flow
from tests.flows.sessions import give_session
from tests.packs.client import an_automation
from tests.packs.small_library import write_library
from tests.tenants import Tenant
from tests.workspaces.automations.ready import make_ready
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
# Browsers log every answer of 422; one form is sent wrong on purpose.
A_REFUSED_FORM = "status of 422"
SECRETS = ["+49 151 1234 5678", "cal-8841", "agent-17", "acct-agency-9", "corner-salon.example"]


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[Open]:
    """Open a browser of its own; whatever a page complains about fails the story."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(**options: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [complaint for complaint in complaints if A_REFUSED_FORM not in complaint] == []


@pytest.fixture
def console(open_page: Open) -> Page:
    """An ordinary browser."""
    return open_page(viewport={"width": 1280, "height": 1600})


@pytest.fixture(autouse=True)
def _library(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


@pytest.fixture
def source(a: Tenant) -> Automation:
    """What works at one customer of the agency."""
    workspace = WorkspaceFactory.create(agency=a.agency, name="Corner Salon")
    return an_automation(workspace, name="Book and pay", flow=a_birthday_flow())


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """Another customer, whose number is connected and who has what the automation needs."""
    workspace = WorkspaceFactory.create(agency=a.agency, name="Second Salon")
    ChannelFactory.create(workspace=workspace)
    Automation.objects.filter(workspace=workspace).delete()
    ContactFactory.create(workspace=workspace)
    make_ready(workspace, "availability", "payment")
    return workspace


@pytest.fixture
def phone(open_page: Open) -> Page:
    """A phone of 360 px whose browser runs no script at all."""
    return open_page(java_script_enabled=False, viewport={"width": 360, "height": 740})


def show_nothing_of_the_first_customer(page: Page) -> None:
    content = page.content()
    for secret in SECRETS:
        assert secret not in content


def test_a_customer_s_automation_becomes_a_pack_that_another_customer_switches_on(
    a: Tenant, source: Automation, customer: Workspace, console: Page, phone: Page, live_server: LiveServer
) -> None:
    give_session(console.context, a_member(a.agency, "admin").user, live_server.url)
    give_session(phone.context, customer.owner, live_server.url)
    console.goto("/console/packs")
    console.get_by_role("link", name="New pack").first.click()
    console.get_by_label("Name").fill("Salon essentials")
    console.get_by_role("button", name="Create pack").click()
    expect(console.locator(".flashes:focus")).to_contain_text("Salon essentials was created. Now add automations.")
    back_and_forth(console)
    console.get_by_role("searchbox", name="Search", exact=True).fill("visit")
    console.get_by_role("searchbox", name="Search", exact=True).press("Enter")
    console.wait_for_url("**visit**")
    console.get_by_label("Book a visit", exact=True).check()
    console.get_by_role("button", name="Add selected").click()
    expect(console.get_by_text("Book a visit was added.")).to_be_visible()
    expect(console.locator(":target")).to_contain_text("Book a visit")
    console.get_by_role("link", name="Back to the pack").click()

    console.get_by_role("link", name="Copy from a sub-account").click()
    console.get_by_label("Name").fill("corner")
    console.get_by_role("button", name="Show").click()
    console.get_by_role("link", name="Corner Salon").click()
    console.get_by_role("link", name="Book and pay").click()
    expect(console.get_by_text("What each customer fills in")).to_be_visible()
    show_nothing_of_the_first_customer(console)
    console.get_by_role("button", name="Copy into the pack").click()
    expect(console.get_by_text("Book and pay was copied into the pack.")).to_be_visible()
    show_nothing_of_the_first_customer(console)

    console.get_by_role("button", name="Move Book and pay up").click()
    names = console.locator("[data-rows] h2")
    expect(names).to_have_text(["Book and pay", "Book a visit"])
    drag(console, "Book a visit", above="Book and pay")
    expect(names).to_have_text(["Book a visit", "Book and pay"])

    console.get_by_role("link", name="Publish").click()
    expect(console.get_by_text("with 2 automations")).to_be_visible()
    console.get_by_role("button", name="Publish").click()
    expect(console.get_by_text("Salon essentials is published. Customers see it now.")).to_be_visible()

    put_to_work(phone, customer)
    console.goto("/console/packs")
    expect(console.get_by_role("row", name="Salon essentials").get_by_role("cell").nth(3)).to_have_text("1")


def back_and_forth(console: Page) -> None:
    """Back leads to the form that was sent, which leads to what it made; a second submit makes nothing."""
    made = console.url
    console.go_back()
    expect(console).to_have_url(made)
    expect(console.locator(".flashes:focus")).to_contain_text("This form was already sent. This is the result.")
    assert Pack.objects.filter(name="Salon essentials").count() == 1


def drag(page: Page, name: str, *, above: str) -> None:
    """Take a row by its handle and drop it over the upper half of another."""
    rows = page.locator("[data-id]")
    grip = rows.filter(has=page.get_by_role("heading", name=name, exact=True)).locator("[data-grip]")
    grip.scroll_into_view_if_needed()
    start = grip.bounding_box()
    target = rows.filter(has=page.get_by_role("heading", name=above, exact=True)).bounding_box()
    assert start
    assert target
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(target["x"] + 40, target["y"] + 12, steps=6)
    page.mouse.up()


def put_to_work(page: Page, customer: Workspace) -> None:
    """What the second customer does, on a phone and without any script."""
    page.goto("/app/gallery")
    page.get_by_role("link", name="Salon essentials").click()
    show_nothing_of_the_first_customer(page)
    StaffFactory.create(workspace=customer, name="Hairdresser")
    page.get_by_role("checkbox", name="Book a visit").check()  # it cannot run yet, so it is not chosen
    page.get_by_role("button", name="Install").click()
    expect(page.locator(".flashes:focus")).to_contain_text("2 automations were added, switched off.")
    page.get_by_role("link", name="Open Book and pay").click()
    show_nothing_of_the_first_customer(page)
    expect(page.get_by_role("button", name="Switch on", exact=True)).to_have_count(0)

    page.get_by_label("Text").fill("Call us whenever you like.")
    page.get_by_label("Web address").fill("nowhere")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("must be a valid web address")
    page.get_by_label("Web address").fill("https://second-salon.example/")
    page.get_by_label("Person", exact=True).select_option(index=1)
    page.get_by_label("Calendar").select_option(label="Hairdresser")
    for slot in page.locator("form[novalidate] input[type=text]").all():
        if not slot.input_value():
            slot.fill("ours-1")
    page.get_by_role("button", name="Save and switch on").click()
    expect(page.locator(".flashes:focus")).to_contain_text("Book and pay is on.")
    running = Automation.objects.get(workspace=customer, name="Book and pay")
    assert running.enabled
    assert running.published is not None
    assert "https://second-salon.example/" in str(running.published.flow)
    for secret in SECRETS:
        assert secret not in str(running.published.flow)
