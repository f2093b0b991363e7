"""A customer signs up on a phone: from the agency's page to their own dashboard; and without JavaScript."""

import re
from typing import Any

import pytest
from django.core import mail
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from agency.tasks import send_mail
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import open_sign_up
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a-quite-new-password-9"
TYPED = {"Your name": "Ada Brandt", "Name of the business": "Ada's Flowers", "E-mail": "ada@flowers.example"}


@pytest.mark.parametrize("scripts", [True, False])
def test_a_customer_signs_up_and_arrives(
    scripts: bool, browser: Browser, live_server: LiveServer, settings: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    host = open_sign_up(Tenant().agency, terms_url="https://www.example.com/terms")
    context = browser.new_context(
        base_url=live_server.url.replace("localhost", host),
        viewport={"width": 360, "height": 740},
        timezone_id="America/New_York",
        java_script_enabled=scripts,
    )
    page = context.new_page()
    page.goto("/account/sign-in")
    page.get_by_role("link", name="Sign up").click()
    zone = page.get_by_label("Time zone")
    expect(zone).to_have_value("America/New_York" if scripts else "UTC")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("alert")).to_be_focused()
    for label, value in TYPED.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Password").fill(PASSWORD)
    if not scripts:
        zone.select_option("America/New_York")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your e-mail")
    mail.outbox.clear()
    send_mail()
    link = re.search(r"http\S+/sign-up/confirm/\S+", str(mail.outbox[-1].body))
    assert link
    page.goto(link[0])
    expect(page.get_by_text("Ada's Flowers")).to_be_visible()
    page.get_by_role("button", name="Confirm and begin").click()
    expect(page).to_have_url(re.compile(r"/app/$"))
    workspace = Workspace.objects.get()
    assert (workspace.name, workspace.timezone) == ("Ada's Flowers", "America/New_York")
    context.close()
