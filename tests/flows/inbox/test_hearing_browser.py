"""In a real browser: who works by keyboard, by ear or with colours of their own knows where they are."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.flows.inbox.opened import Server, inbox_of
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.conversations.models import Conversation
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# How the current one looks, how another one does, and in which colours what stands in the current one.
LOOKS = """([current, other]) => {
    const look = one => { const style = getComputedStyle(one); return [style.color, style.backgroundColor]; };
    const here = document.querySelector(current);
    const inside = [...here.querySelectorAll("*")].map(one => getComputedStyle(one).color);
    return [look(here), look(document.querySelector(other)), [...new Set(inside)]];
}"""

ICON = "() => document.querySelector('link[rel=icon]').href"


def open_conversation(page: Page, name: str) -> None:
    page.locator(".inbox-row", has_text=name).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator(".inbox-row.unread", has_text=name)).to_have_count(0)


@pytest.fixture
def opened(page: Page, channel: Channel) -> Page:
    receive(*(received(channel, person=person(number), at=moment(-number)) for number in (3, 2, 1)))
    open_conversation(page, "Person 2")
    return page


def is_seen_in_forced_colours(opened: Page) -> None:
    opened.set_viewport_size({"width": 1600, "height": 900})
    opened.emulate_media(forced_colors="active")
    for one in (".side .menu a", ".inbox-views a", ".composer-tabs a", ".inbox-row"):
        current, other = f"{one}[aria-current]", f"{one}:not([aria-current])"
        expect(opened.locator(other).first).to_be_attached()
        here, elsewhere, inside = opened.evaluate(LOOKS, [current, other])
        assert here[1] != elsewhere[1], one
        assert set(inside) <= {here[0]}, one
    opened.emulate_media(forced_colors="none")


def test_what_is_current_is_seen_in_forced_colours_and_what_is_done_with_it_is_said_and_focus_stays_there(
    opened: Page, channel: Channel
) -> None:
    is_seen_in_forced_colours(opened)
    owner = channel.workspace.owner
    head = opened.locator('[data-live="head"]')
    head.get_by_role("button", name="Assign to me").click()
    expect(opened.locator("[data-announcer]")).to_have_text(f"Assigned to {owner.name}")
    head.get_by_role("button", name="Unassign").click()
    expect(opened.locator("[data-announcer]")).to_have_text("Assigned to nobody")
    for name, then, said in (("Close", "Reopen", "is closed"), ("Reopen", "Close", "is open again")):
        head.get_by_role("button", name=name, exact=True).press("Enter")
        expect(opened.locator("[data-announcer]")).to_have_text(f"The conversation with Person 2 {said}.")
        expect(head.get_by_role("button", name=then, exact=True)).to_be_focused()
    opened.locator("body").press("s")
    opened.keyboard.press("Enter")
    expect(opened.locator("[data-announcer]")).to_contain_text("Snoozed until")


def test_messages_are_said_and_focus_goes_to_the_next_conversation_when_those_that_are_ticked_are_closed(
    opened: Page, channel: Channel
) -> None:
    announcer = opened.locator("[data-announcer]")
    receive(received(channel, person=person(1), text="Are you there?"))
    expect(announcer).to_have_text("New message from Person 1.")
    receive(received(channel, person=person(2), text="And I?"))
    expect(announcer).to_have_text("New message from Person 2.")
    # What is read on the list no less than in the thread is not said again with what comes next.
    expect(opened.locator(".inbox-row:not(.unread)", has_text="And I?")).to_be_visible()
    receive(received(channel, person=person(4), text="A stranger"), received(channel, person=person(3), text="Hello?"))
    expect(announcer).to_have_text(re.compile(r"^New message from Person [34]\. New message from Person [34]\.$"))
    receive(received(channel, person=person(4), text="Once more"))
    expect(announcer).to_have_text("New message from Person 4.")
    assert Conversation.objects.count() == 4
    opened.locator(".inbox-tick", has=opened.locator('[aria-label="Select Person 1"]')).click()
    button = opened.locator(".bulk-bar").get_by_role("button", name="Close", exact=True)
    button.focus()
    opened.keyboard.press("Enter")
    expect(opened.locator(".inbox-row")).to_have_count(3)
    expect(opened.locator(".inbox-rows :is(.inbox-row, .inbox-tick input)").first).to_be_focused()


def test_what_is_unread_stands_in_the_title_and_on_the_icon_of_each_tab_and_may_be_heard(
    shared_context: BrowserContext, server: Server, a: Tenant, channel: Channel
) -> None:
    a.workspace.owner.plays_sound = True
    a.workspace.owner.save()
    with inbox_of(a, shared_context, server) as page:
        is_told_of_what_is_unread(page, channel)


def is_told_of_what_is_unread(page: Page, channel: Channel) -> None:
    receive(received(channel, person=person(1), at=moment(-9)))
    expect(page).to_have_title(re.compile(r"^\(1\) Inbox · "))
    assert page.evaluate(ICON).startswith("data:image/png")
    other = page.context.new_page()
    other.goto("/app/notifications")
    expect(other).to_have_title(re.compile(r"^\(1\) Notifications · "))
    with page.context.expect_event("response", lambda answer: "message" in answer.url and answer.url.endswith(".wav")):
        receive(received(channel, person=person(2)))
    for tab in (page, other):
        expect(tab).to_have_title(re.compile(r"^\(2\) "))
        expect(tab.locator(".side .menu a", has_text="Inbox")).to_have_text(re.compile(r"^\s*Inbox\s*2 unread$"))
    open_conversation(page, "Person 1")
    open_conversation(page, "Person 2")
    for tab in (page, other):
        expect(tab).not_to_have_title(re.compile(r"^\("))
        expect(tab.locator(".side .menu a", has_text="Inbox")).to_have_text(re.compile(r"^\s*Inbox\s*$"))
        tab.wait_for_function(f"() => !({ICON})().startsWith('data:image')")
