"""In a real browser: people work in the inbox, and what happens elsewhere appears without reloading."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import own_processes
from tests.agency.console.browsers import PASSWORD
from tests.config.serving.web import running_web
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, status, the_conversation
from workspaces.conversations.models import Message
from workspaces.conversations.services import inbound
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STAYS = "window.stays = true"


@pytest.fixture
def channel(a: Tenant) -> Channel:
    return ChannelFactory.create(workspace=a.workspace)


@pytest.fixture
def page(browser: Browser, a: Tenant, channel: Channel) -> Iterator[Page]:
    """The inbox of the workspace's owner; a page's complaints fail the story."""
    owner, complaints = a.workspace.owner, []
    owner.set_password(PASSWORD)
    owner.save()
    with running_web("config.asgi:application", own_processes.variables()) as web:
        context: BrowserContext = browser.new_context(base_url=f"http://localhost:{web.port}")
        opened = context.new_page()
        opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto("/app/inbox")
        opened.get_by_label("E-mail").fill(owner.email)
        opened.get_by_label("Password").fill(PASSWORD)
        opened.get_by_role("button", name="Sign in").click()
        expect(opened.get_by_role("heading", level=1)).to_have_text("Inbox")
        yield opened
        context.close()
    assert complaints == []


def advance(channel: Channel, message: Message, to: str) -> None:
    apply(inbound.advance_statuses, status(channel, f"wamid.out.{message.pk}", to, opaque=str(message.uuid)))


def test_a_message_comes_in_is_answered_and_seen_to_be_read(page: Page, channel: Channel) -> None:
    page.evaluate(STAYS)
    receive(received(channel, text="Are you open today?"))
    row = page.locator(".inbox-row")
    expect(row).to_contain_text("Are you open today?")
    expect(row).to_contain_text("Unread")
    assert page.evaluate("window.stays")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.in")).to_contain_text("Are you open today?")
    expect(page.locator(".inbox-row.unread")).to_have_count(0)
    page.evaluate(STAYS)
    page.keyboard.press("r")
    page.keyboard.type("Yes, until six.")
    page.keyboard.press("Control+Enter")
    answer = page.locator(".bubble.out")
    expect(answer).to_contain_text("Yes, until six.")
    expect(answer).to_contain_text("Pending")
    expect(page.get_by_label("Answer to Person 1")).to_have_value("")
    expect(page.get_by_label("Answer to Person 1")).to_be_focused()

    message = Message.objects.get(direction="out")
    for to, shown in (("sent", "Sent"), ("delivered", "Delivered"), ("read", "Read")):
        advance(channel, message, to)
        expect(answer).to_contain_text(shown)
    receive(received(channel, text="Thank you!"))
    expect(page.locator(".bubble.in").last).to_contain_text("Thank you!")
    assert page.evaluate("window.stays")
    assert the_conversation().unread_count == 0 or page.locator(".inbox-row.unread").count() <= 1


def test_what_is_being_typed_survives_whatever_happens_meanwhile(page: Page, channel: Channel) -> None:
    receive(received(channel), received(channel, person=person(2), text="And I?"))
    page.locator(".inbox-row", has_text="Person 1").click()
    field = page.get_by_label("Answer to Person 1")
    field.fill("A long answer that is not finished")
    receive(received(channel, text="Are you there?"))
    expect(page.locator(".bubble.in").last).to_contain_text("Are you there?")
    expect(field).to_have_value("A long answer that is not finished")
    page.locator(".inbox-row", has_text="Person 2").click()
    expect(page.get_by_label("Answer to Person 2")).to_have_value("")
    page.locator(".inbox-row", has_text="Person 1").click()
    expect(page.get_by_label("Answer to Person 1")).to_have_value("A long answer that is not finished")


def test_a_closed_window_and_a_phone(page: Page, channel: Channel) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    receive(received(channel, at=moment(-90_000), text="W" * 120))
    expect(page.locator(".inbox-row")).to_be_visible()
    page.locator(".inbox-row").click()
    expect(page.get_by_text("only an approved template can be sent now")).to_be_visible()
    expect(page.locator(".inbox-list")).to_be_hidden()
    wider: Any = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0
    page.get_by_role("link", name="All conversations").click()
    expect(page.locator(".inbox-row")).to_be_visible()
