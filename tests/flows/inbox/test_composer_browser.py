"""In a real browser: an answer, a template and a note never become one another, however slow the server is."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.flows.inbox.opened import HeldUp, Server, inbox_of
from tests.tenants import Tenant
from tests.workspaces.conversations.dashboard.test_working import a_template
from tests.workspaces.conversations.facts import receive, received
from workspaces.conversations.models import Message, Note
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIELD = ".composer textarea:visible"
BUTTON = ".composer .button.primary:visible"
HUSH = "He still owes us money"


def open_conversation(page: Page, channel: Channel) -> None:
    receive(received(channel))
    page.locator(".inbox-row").click()
    # Neither the page that is left nor one that is still empty has such a row. The page's script makes it.
    expect(page.locator(".has-thread .inbox-row:not(.unread)")).to_have_count(1)
    expect(page.locator("[data-keys]:not([hidden])").first).to_be_attached()  # the page listens to keys


def tab(page: Page, name: str) -> None:
    page.locator(".composer-tabs a", has_text=name).click(no_wait_after=True)


def answers() -> list[str]:
    return list(Message.objects.filter(direction="out").order_by("pk").values_list("text", flat=True))


def notes() -> list[str]:
    return list(Note.objects.order_by("pk").values_list("text", flat=True))


def test_a_note_that_is_typed_at_once_is_a_note_while_the_server_is_held_up(page: Page, channel: Channel) -> None:
    open_conversation(page, channel)
    page.locator(FIELD).click()
    server = HeldUp(page)
    tab(page, "Note")
    page.locator(FIELD).click()
    page.keyboard.type(HUSH)
    page.locator(BUTTON).click(no_wait_after=True)
    server.let_go()
    expect(page.locator(".bubble.internal")).to_contain_text(HUSH)
    assert (answers(), notes()) == ([], [HUSH])
    expect(page.locator(FIELD)).to_be_focused()
    expect(page.locator(FIELD)).to_have_value("")


def test_each_has_a_field_and_a_draft_of_its_own(page: Page, channel: Channel) -> None:
    a_template(channel)
    open_conversation(page, channel)
    server = HeldUp(page)
    page.get_by_label("Reply to Person 1").fill("Yes, until")
    for name, typed, field in (("Note", HUSH, "Note"), ("Reply", " six.", "Reply to Person 1")):
        tab(page, name)
        expect(page.get_by_label(field, exact=True)).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.type(typed)
    tab(page, "Template")
    expect(page.locator(".templates a")).to_be_focused()
    expect(page.locator(FIELD)).to_have_count(0)
    tab(page, "Reply")
    expect(page.locator(FIELD)).to_have_value("Yes, until six.")
    tab(page, "Note")
    server.let_go()
    page.reload()
    expect(page.locator(FIELD)).to_have_value(HUSH)
    tab(page, "Reply")
    page.locator(BUTTON).click()
    expect(page.locator(".bubble.out")).to_contain_text("Yes, until six.")
    tab(page, "Note")
    expect(page.locator(FIELD)).to_have_value(HUSH)
    assert (answers(), notes()) == (["Yes, until six."], [])


def test_an_answer_on_its_way_takes_nothing_from_the_note_that_is_begun_meanwhile(page: Page, channel: Channel) -> None:
    open_conversation(page, channel)
    page.locator(FIELD).fill("Yes, until six.")
    server = HeldUp(page)
    page.locator(BUTTON).click(no_wait_after=True)
    tab(page, "Note")
    page.keyboard.type("He still ")
    server.let_go()
    expect(page.locator(".bubble.out")).to_contain_text("Yes, until six.")
    page.keyboard.type("owes us money")
    expect(page.locator(FIELD)).to_have_value(HUSH)
    receive(received(channel, text="Thank you"))
    expect(page.locator(".bubble.in").last).to_contain_text("Thank you")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".bubble.internal")).to_contain_text(HUSH)
    tab(page, "Reply")
    expect(page.locator(FIELD)).to_have_value("")
    assert (answers(), notes()) == (["Yes, until six."], [HUSH])


def test_the_keys_write_where_they_say(page: Page, channel: Channel) -> None:
    open_conversation(page, channel)
    server = HeldUp(page)
    press = page.keyboard.press
    press("n")
    page.keyboard.type("For us")
    press("Escape")
    press("r")
    page.keyboard.type("For you")
    expect(page.locator(FIELD)).to_have_value("For you")
    press("Escape")
    press("n")
    expect(page.locator(FIELD)).to_have_value("For us")
    server.let_go()


def test_without_script_every_kind_is_a_page_of_its_own(
    browser: Browser, server: Server, a: Tenant, channel: Channel
) -> None:
    receive(received(channel))
    with (
        browser.new_context(base_url=server.url, java_script_enabled=False) as context,
        inbox_of(a, context, server) as page,
    ):
        page.locator(".inbox-row").click()
        expect(page.locator(FIELD)).to_have_count(1)
        tab(page, "Note")
        expect(page.get_by_label("Note", exact=True)).to_be_visible()
        page.locator(FIELD).fill(HUSH)
        page.locator(BUTTON).click()
        expect(page.locator(".bubble.internal")).to_contain_text(HUSH)
        page.locator(FIELD).fill("Yes, until six.")
        page.locator(BUTTON).click()
        expect(page.locator(".bubble.out")).to_contain_text("Yes, until six.")
    assert (answers(), notes()) == (["Yes, until six."], [HUSH])
