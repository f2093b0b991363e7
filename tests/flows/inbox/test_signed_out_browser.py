"""In a real browser: somebody at the inbox whose session has ended loses nothing of what they are writing."""

import pytest
from playwright.sync_api import Page, expect

from agency.models import UserSession
from tests.agency.console.browsers import PASSWORD
from tests.flows.inbox.test_composer_browser import answers, open_conversation, tab
from tests.tenants import Tenant
from tests.workspaces.conversations.dashboard.test_working import a_template
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Page, tenant: Tenant) -> None:
    page.get_by_label("E-mail").fill(tenant.workspace.owner.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def set_password(tenant: Tenant) -> None:
    """Give the owner a password, which ends the sessions that they have."""
    tenant.workspace.owner.set_password(PASSWORD)
    tenant.workspace.owner.save()
    UserSession.objects.all().delete()


def write_template(page: Page, channel: Channel) -> None:
    a_template(channel)
    open_conversation(page, channel)
    tab(page, "Template")
    page.locator(".templates a").click()
    page.locator("#parameter-1").fill("Ada & Co")


def test_the_values_of_a_template_come_back_after_signing_in(page: Page, a: Tenant, channel: Channel) -> None:
    write_template(page, channel)
    set_password(a)
    page.get_by_role("button", name="Send template").click()
    expect(page.get_by_text("You were signed out, and nothing was done")).to_be_visible()
    sign_in(page, a)
    expect(page.locator("#parameter-1")).to_have_value("Ada & Co")
    assert answers() == []
    page.get_by_role("button", name="Send template").click()
    expect(page.locator(".bubble.out")).to_have_count(1)
    assert Message.objects.filter(direction="out").count() == 1


def test_a_page_that_finds_out_by_itself_says_so_and_keeps_what_is_written(
    page: Page, a: Tenant, channel: Channel
) -> None:
    write_template(page, channel)
    set_password(a)
    page.evaluate("document.dispatchEvent(new Event('inbox:stale'))")
    note = page.locator("[data-signed-out]")
    expect(note).to_be_visible()
    expect(page.locator("#parameter-1")).to_have_value("Ada & Co")
    with page.context.expect_page() as opened:
        note.get_by_role("link").click()
    sign_in(opened.value, a)
    expect(opened.value.locator(".thread-who")).to_be_visible()
    page.get_by_role("button", name="Send template").click()
    expect(page.get_by_text("You were signed out before this was sent")).to_be_visible()
    expect(page.locator("#parameter-1")).to_have_value("Ada & Co")
    page.get_by_role("button", name="Send template").click()
    expect(page.locator(".bubble.out")).to_have_count(1)
