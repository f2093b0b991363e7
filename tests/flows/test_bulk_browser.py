"""In a real browser: a list's filters, selection and row menus; the selected are suspended while the page follows."""

from collections.abc import Iterator

import pytest
from django.conf import settings as project
from django.utils.timezone import now
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.models import Agency, BulkOperation
from agency.services.bulk import run_batch
from agency.tasks import run_jobs
from tests.agency.console.browsers import at_the_console
from tests.factories import AgencyFactory, many_workspaces
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def agency(transactional_db: None) -> Agency:
    made: Agency = AgencyFactory.create()
    many_workspaces(made, 30)
    return made


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, agency: Agency) -> Iterator[Page]:
    """An admin's page; its complaints fail the story."""
    complaints: list[str] = []
    session = at_the_console(agency).cookies[project.SESSION_COOKIE_NAME].value
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def test_all_that_match_are_suspended_while_the_page_is_watched(page: Page, agency: Agency) -> None:
    page.goto("/console/sub-accounts")
    page.get_by_label("Status", exact=True).select_option("Active")
    expect(page.get_by_role("list", name="Filters in use").get_by_text("Status: Active")).to_be_visible()
    page.get_by_label("Select all 30 results").check()
    expect(page.locator("[data-selected]")).to_have_text("30 selected")
    page.get_by_label("Action for selected rows").select_option("Suspend")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Sub-accounts: 30 are selected")).to_be_visible()
    page.get_by_label("Reason").fill("Not paid")
    page.get_by_role("button", name="Suspend (30)").click()
    expect(page.get_by_role("heading", name="Collecting selected items: 0 so far")).to_be_visible()
    page.evaluate("window.stays = true")
    operation = BulkOperation.objects.get()
    for _ in range(2):
        run_batch(operation.pk, now=now())
    expect(page.get_by_role("heading", name="10 of 30 processed")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel the rest")).to_be_visible()
    run_jobs()
    expect(page.get_by_role("heading", name="30 of 30 processed")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel the rest")).to_have_count(0)
    assert page.evaluate("window.stays")
    assert Workspace.objects.of(agency).filter(status="suspended", suspension_reason="Not paid").count() == 30


def test_a_list_s_filters_selection_and_menus_answer_at_once(page: Page) -> None:
    page.goto("/console/sub-accounts")
    bar, count = page.locator("[data-selection]"), page.locator("[data-selected]")
    whole = page.get_by_role("columnheader").get_by_label("Select all rows on this page")
    expect(page.get_by_role("button", name="Show", exact=True)).to_be_hidden()
    expect(bar).to_be_hidden()
    for name in ("Crowd 30", "Crowd 29"):
        page.get_by_label(f"Select {name}").check()
    expect(count).to_have_text("2 selected")
    expect(bar).to_be_in_viewport(ratio=1)
    assert whole.evaluate("box => box.indeterminate")
    whole.check()
    expect(count).to_have_text("25 selected")
    page.get_by_label("Select all 30 results").check()
    expect(count).to_have_text("30 selected")
    page.get_by_label("Select Crowd 30").uncheck()
    expect(count).to_have_text("24 selected")
    expect(page.get_by_label("Select all 30 results")).not_to_be_checked()
    page.get_by_role("button", name="Clear selection").click()
    expect(bar).to_be_hidden()
    expect(whole).to_be_focused()

    menu, edit = page.get_by_label("Actions for Crowd 30"), page.get_by_role("link", name="Edit Crowd 30")
    menu.press("Enter")
    expect(page.get_by_role("button", name="Open as customer: Crowd 30")).to_be_visible()
    page.keyboard.press("Escape")
    expect(edit).to_be_hidden()
    expect(menu).to_be_focused()
    menu.press("Enter")
    for _ in range(menu.locator("xpath=..").locator("a, button").count()):
        page.keyboard.press("Tab")
        expect(edit).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Select Crowd 29")).to_be_focused()
    expect(edit).to_be_hidden()
    menu.click()
    expect(edit).to_be_visible()
    page.get_by_role("heading", level=1).click()
    expect(edit).to_be_hidden()

    page.get_by_label("Search", exact=True).fill("Crowd 7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Filters in use")).to_contain_text("Search: Crowd 7")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.get_by_label("Status", exact=True)).to_be_hidden()
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Status", exact=True).select_option("Active")
    expect(page.get_by_text("Filters (1)")).to_be_visible()
    expect(page.get_by_label("Status", exact=True)).to_be_focused()
    assert page.url.endswith("?search=Crowd+7&status=active&sort=-created")
    page.get_by_role("link", name="Clear the filter Search").click()
    expect(page.locator("tbody tr")).to_have_count(25)
    page.get_by_role("checkbox", name="Select all rows on this page").check()
    expect(count).to_have_text("25 selected")
