"""In a real browser: sub-accounts are found, chosen and suspended, and the page follows what happens by itself."""

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
    page.goto("/console/sub-accounts?status=active")
    page.get_by_label("Select all 30 results").check()
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
