"""Setting a password, new or first, in a real browser, whose forms tell no origin under a strict referrer policy."""

import re
from typing import Any

import pytest
from django.core import mail
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from agency.tasks import send_mail
from tests.agency.console.browsers import a_member
from tests.agency.invitations import invited, mailed_link
from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a-quite-new-password-9"


def test_a_person_sets_a_new_password(browser: Browser, live_server: LiveServer, settings: Any) -> None:
    settings.PUBLIC_URL = live_server.url
    person = a_member(Tenant().agency, "owner").user
    page = browser.new_page(base_url=live_server.url)
    page.goto("/account/password-reset")
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your e-mail")
    send_mail()
    link = re.search(r"http\S+/set-password/\S+", str(mail.outbox[-1].body))
    assert link
    page.goto(link[0])
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Home")
    expect(page.get_by_text("Your password is set. You are signed out everywhere else.")).to_be_visible()
    page.close()


def test_somebody_new_accepts_an_invitation(browser: Browser, live_server: LiveServer) -> None:
    agency = Tenant().agency
    invited(agency, "nora@example.com")
    page = browser.new_page(base_url=live_server.url)
    page.goto(mailed_link())
    expect(page.get_by_label("Your name")).to_have_value("Nora")
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Accept and set the password").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Home")
    page.goto("/account/invitations")
    page.get_by_role("link", name=f"Leave {agency.name}").click()
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_text("You are not in a team or workspace yet.")).to_be_visible()
    page.close()
