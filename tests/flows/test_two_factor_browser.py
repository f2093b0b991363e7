"""Two-factor in a real browser: from the first click to the recovery codes on disk, and in again with a code."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from config.db import database_now
from tests.agency.console.browsers import PASSWORD, a_member
from tests.agency.two_factor import App, code_at
from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def show_password(page: Page, email: str) -> None:
    page.goto("/account/sign-in")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def test_a_person_sets_it_up_and_signs_in_with_it(browser: Browser, live_server: LiveServer) -> None:
    person = a_member(Tenant().agency, "owner").user
    page, elsewhere = (browser.new_page(base_url=live_server.url) for _ in range(2))
    reports: list[str] = []
    page.on("console", lambda message: reports.append(message.text) if message.type == "error" else None)
    show_password(page, person.email)
    page.goto("/account/profile")
    page.get_by_role("link", name="Security: two-factor and sessions").click()
    page.get_by_role("link", name="Set up two-factor").click()
    page.get_by_role("button", name="Start").click()
    picture = page.get_by_role("img", name="QR code for your authenticator app")
    assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
    secret = page.locator(".secret code").inner_text().replace(" ", "")
    page.get_by_label("Code").fill(code_at(secret, database_now()))
    page.get_by_role("button", name="Switch two-factor on").click()
    heading(page, "Your recovery codes")
    codes = page.locator(".codes code").all_inner_texts()
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert Path(download.value.path()).read_text().split() == codes
    page.get_by_role("link", name="I have saved them").click()
    heading(page, "Security")

    show_password(elsewhere, person.email)
    heading(elsewhere, "Enter your code")
    expect(elsewhere.get_by_label("Code")).to_be_focused()
    elsewhere.get_by_label("Code").fill(App(secret, codes).code(steps=1))
    elsewhere.get_by_role("button", name="Sign in").click()
    heading(elsewhere, "Home")

    page.reload()
    page.get_by_role("button", name="Sign out everywhere else").click()
    expect(page.get_by_text("You are signed out everywhere else.")).to_be_visible()
    elsewhere.goto("/console/plans")
    heading(elsewhere, "Sign in")
    assert reports == []
    for one in (page, elsewhere):
        one.close()
