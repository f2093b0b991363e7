"""Opening hours: Monday's are copied to the other weekdays by one press, and nothing is saved before Save."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.flows.sessions import give_session
from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_hours_of_monday_are_copied_in_the_page(browser: Browser, live_server: LiveServer, a: Tenant) -> None:
    with browser.new_context(base_url=live_server.url) as context:
        page = context.new_page()
        give_session(context, a.workspace.owner, live_server.url)
        page.goto("/app/settings")
        page.get_by_label("Monday, from (1)").fill("09:00")
        page.get_by_label("Monday, until (1)").fill("17:30")
        page.get_by_label("Friday, from (2)").fill("18:00")
        page.get_by_label("Address").fill("1 High Street")
        page.get_by_role("button", name="Same hours Monday to Friday").click()
        expect(page.locator("[data-announcer]")).to_have_text("Monday's hours are copied. Save to keep them.")
        expect(page.get_by_role("alert")).to_have_count(0)
        for day, until in (("Tuesday", "17:30"), ("Friday", "17:30"), ("Saturday", "")):
            expect(page.get_by_label(f"{day}, until (1)")).to_have_value(until)
        expect(page.get_by_label("Friday, from (2)")).to_have_value("")
        page.get_by_label("Phone number").press("Enter")
        expect(page.get_by_text("The settings were saved.")).to_be_visible()
    a.workspace.refresh_from_db()
    assert a.workspace.opening_hours["friday"] == [["09:00", "17:30"]]
    assert a.workspace.opening_hours["saturday"] == []
