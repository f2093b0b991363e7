"""In a real browser: the pages of segments and imports follow what is typed and what happens."""

from collections.abc import Iterator

import pytest
from django.utils.timezone import now
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.factories import ContactFactory, ContactImportFactory, WorkspaceFactory
from tests.flows.sessions import give_session
from workspaces.contacts.models import Segment
from workspaces.contacts.services.file_imports import import_next_piece
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STAYS = "window.stays = true"


@pytest.fixture
def workspace(transactional_db: None) -> Workspace:
    made: Workspace = WorkspaceFactory.create()
    ContactFactory.create(workspace=made, tags=["VIP", "Regular"], attributes={"plan": "gold"})
    ContactFactory.create(workspace=made, tags=["VIP"])
    ContactFactory.create(workspace=made)
    return made


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, workspace: Workspace) -> Iterator[Page]:
    """The owner's page; its complaints fail the story."""
    complaints: list[str] = []
    context = browser.new_context(base_url=live_server.url, reduced_motion="reduce")
    give_session(context, workspace.owner, live_server.url)
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def test_the_number_of_a_segment_follows_its_rows_and_enter_saves(page: Page) -> None:
    page.goto("/app/segments/new")
    page.evaluate(STAYS)
    number, tags = page.locator("[data-count]"), page.get_by_role("combobox", name="Tags")
    expect(number).to_have_text("Finds 3 of 3 contacts.")
    page.get_by_label("Name", exact=True).fill("Gold")
    tags.fill("Vipp")
    expect(page.get_by_text("No contact has the tag Vipp.")).to_be_visible()
    tags.fill("VIP")
    expect(number).to_have_text("Finds 2 of 3 contacts.")
    tags.press_sequentially(", ")
    suggested = page.locator("#known-tags option").evaluate_all("all => all.map(one => [one.value, one.disabled])")
    assert suggested == [["VIP, Regular", False], ["VIP, VIP", True]]
    page.get_by_role("button", name="Detail of the contact", exact=True).click()
    expect(page.get_by_label("Name of the detail")).to_be_focused()
    page.get_by_label("Name of the detail").fill("plan")
    page.get_by_label("Value", exact=True).fill("gold")
    expect(number).to_have_text("Finds 1 of 3 contacts.")
    expect(page.locator("#values-1 option")).to_have_count(1)
    page.get_by_role("button", name="Remove condition 1").click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("gold")
    expect(tags).to_have_count(0)
    assert page.evaluate("window.stays")
    page.get_by_label("Value", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Gold")).to_be_visible()
    assert Segment.objects.get().filter == {"attributes": {"plan": "gold"}}


def test_the_page_of_an_import_follows_it_to_its_end(page: Page, workspace: Workspace) -> None:
    made = ContactImportFactory.create(workspace=workspace, content=b"name,phone\nAda,+49301234567\nBob,none\n")
    page.goto(f"/app/contacts/imports/{made.uuid}")
    page.get_by_role("button", name="Start import").click()
    expect(page.get_by_text("The import has begun.")).to_be_visible()
    page.evaluate(STAYS)
    expect(page.get_by_role("progressbar")).to_be_visible()
    assert import_next_piece(now=now())
    expect(page.get_by_text("1 imported, 1 not imported")).to_be_visible()
    expect(page.get_by_role("heading", name="Rows that were not imported")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel this import")).to_have_count(0)
    expect(page.get_by_text("The import has begun.")).to_have_count(0)
    assert page.evaluate("window.stays")
