"""In a real browser: a broadcast is composed with its picture beside it, and its page follows what happens."""

from collections.abc import Iterator

import pytest
from django.conf import settings as project
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from broadcasts.models import Broadcast
from broadcasts.services.counts import add_counts
from tests.broadcasts.under_way import a_busy_broadcast, a_draft
from tests.factories import (
    BODY_PARAMETER,
    ChannelFactory,
    ContactFactory,
    SegmentFactory,
    WorkspaceFactory,
    a_message_template,
)
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STAYS = "window.stays = true"


@pytest.fixture
def channel(transactional_db: None) -> Channel:
    made: Channel = ChannelFactory.create(workspace=WorkspaceFactory.create(), name="Quayside Support")
    a_message_template(made, text="Hello {{1}}, the *sale* begins.", parameters=[BODY_PARAMETER])
    return made


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, channel: Channel) -> Iterator[Page]:
    """The owner's page; its complaints fail the story."""
    client, complaints = Client(), []
    client.force_login(channel.workspace.owner)
    session = client.cookies[project.SESSION_COOKIE_NAME].value
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def test_the_picture_follows_what_is_typed_and_variables_are_inserted(page: Page) -> None:
    page.goto("/app/broadcasts/new")
    body = page.locator(".phone-body")
    page.get_by_label("Message", exact=True).select_option(label="A text of my own")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.get_by_label("Name", exact=True).fill("Autumn sale")
    page.get_by_label("Text", exact=True).fill("*Hi* <b>you</b>, _see_ 2*3*4 ")
    page.get_by_role("button", name="First name").click()
    assert body.inner_html() == "<strong>Hi</strong> &lt;b&gt;you&lt;/b&gt;, <em>see</em> 2*3*4 <mark>First name</mark>"
    expect(page.get_by_label("Text", exact=True)).to_have_value("*Hi* <b>you</b>, _see_ 2*3*4 {{contact.first_name}}")

    expect(page.get_by_label("Contacts", exact=True)).to_be_hidden()
    page.get_by_label("Contacts of my choice").check()
    expect(page.get_by_label("Contacts", exact=True)).to_be_visible()
    page.get_by_label("All contacts").check()

    page.get_by_label("Message", exact=True).select_option(label="sale · en")
    gap = page.get_by_label("Text {{1}}")
    expect(gap).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Autumn sale")
    assert body.inner_html() == "Hello Ada, the <strong>sale</strong> begins."
    gap.fill("Grace")
    assert body.inner_html() == "Hello Grace, the <strong>sale</strong> begins."
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review before sending")
    assert Broadcast.objects.get().message["components"][0]["parameters"] == [{"type": "text", "text": "Grace"}]


def test_arrow_keys_walk_through_the_messages_and_their_fields_come_while_the_focus_stays(
    page: Page, channel: Channel
) -> None:
    other = ChannelFactory.create(workspace=channel.workspace, name="Second Number")
    a_message_template(other, text="Come tomorrow.", name="plain")
    page.goto("/app/broadcasts/new")
    page.evaluate(STAYS)
    message, text, first_name = (
        page.get_by_label("Message", exact=True),
        page.get_by_label("Text", exact=True),
        page.get_by_role("button", name="First name"),
    )
    message.focus()
    page.keyboard.press("ArrowDown")
    expect(text).to_be_visible()
    expect(message).to_be_focused()
    expect(page.locator(".phone-body")).to_be_empty()
    page.keyboard.press("Tab")
    page.keyboard.type("Good morning ")
    first_name.press("Enter")
    expect(page.locator(".phone-body")).to_have_text("Good morning First name")
    message.focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Text {{1}}")).to_be_visible()

    # This channel has one message, without a field, and so no variable can be inserted.
    page.get_by_label("Channel", exact=True).focus()
    page.keyboard.type("Second")
    expect(message.locator("option")).to_have_text(["plain · en", "A text of my own"])
    expect(page.locator(".phone-body")).to_have_text("Come tomorrow.")
    expect(first_name).to_be_hidden()
    assert page.evaluate("window.stays")

    # What cannot be loaded by itself can be asked for.
    asking = page.get_by_role("button", name="Show its fields")
    expect(asking).to_be_hidden()
    page.route("**/app/broadcasts/new*", lambda route: route.abort())
    message.focus()
    page.keyboard.press("ArrowDown")
    expect(asking).to_be_visible()
    page.unroute("**/app/broadcasts/new*")
    asking.press("Enter")
    expect(text).to_be_focused()


def test_what_was_typed_is_there_with_a_newer_segment_when_somebody_comes_back(page: Page, channel: Channel) -> None:
    page.goto("/app/broadcasts/new")
    page.get_by_label("Text {{1}}").fill("Grace")
    page.get_by_label("A segment").check()
    page.get_by_role("link", name="New segment").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New segment")
    SegmentFactory.create(workspace=channel.workspace, name="Regulars")
    page.go_back()
    expect(page.get_by_label("Segment", exact=True)).to_be_visible()
    page.get_by_label("Segment", exact=True).select_option(label="Regulars")
    expect(page.locator(".phone-body")).to_have_text("Hello Grace, the sale begins.")
    expect(page.get_by_role("status").filter(has_text="Get it")).to_contain_text("0 of 0 contacts")


def test_focus_goes_on_with_what_the_channel_and_the_message_ask_for(page: Page, channel: Channel) -> None:
    other = ChannelFactory.create(workspace=channel.workspace, name="Second Number")
    a_message_template(other, text="Hello {{1}}.", name="hello", parameters=[BODY_PARAMETER])
    page.goto("/app/broadcasts/new")
    page.get_by_label("Channel", exact=True).select_option(str(other.uuid))
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.get_by_label("Message", exact=True).locator("option")).to_contain_text(["hello"])
    page.get_by_label("Message", exact=True).select_option(label="A text of my own")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.get_by_label("Message", exact=True).select_option(label="hello · en")
    expect(page.get_by_label("Text {{1}}")).to_be_focused()


def test_who_gets_it_is_counted_while_the_audience_is_chosen_and_the_message_is_typed(
    page: Page, channel: Channel
) -> None:
    for number, name in enumerate(("Ada", "", "")):
        ContactFactory.create(workspace=channel.workspace, name=name, phone=f"+493012345{number}")
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.goto("/app/broadcasts/new")
    page.evaluate(STAYS)
    counted = page.get_by_role("status").filter(has_text="Get it")
    expect(counted).to_contain_text("3 of 3 contacts")
    fallback = page.get_by_label("Fallback for First name")
    expect(fallback).to_be_hidden()

    page.get_by_label("Text {{1}}").fill("{{contact.first_name}} {{fields.town}}")
    expect(page.get_by_label("Fallback for town")).to_be_visible()
    page.get_by_label("Text {{1}}").fill("{{contact.first_name}}")
    expect(page.get_by_label("Fallback for town")).to_be_hidden()
    expect(counted).to_contain_text("1 of 3 contacts")
    expect(page.get_by_text("2 contacts have no value.")).to_be_visible()
    fallback.fill("you")
    expect(counted).to_contain_text("3 of 3 contacts")
    page.get_by_label("Contacts of my choice").check()
    expect(counted).to_have_count(0)
    page.get_by_label("Contacts", exact=True).fill("+4930123450")
    expect(counted).to_contain_text("1 of 1 contact")
    assert page.evaluate("window.stays")
    assert not Broadcast.objects.exists()
    assert console == []


def test_a_page_follows_its_broadcast_without_reloading(page: Page, channel: Channel) -> None:
    broadcast = a_busy_broadcast(channel)
    page.clock.install()
    page.goto(f"/app/broadcasts/{broadcast.uuid}")
    page.evaluate(STAYS)
    expect(page.locator(".legend")).to_contain_text("Read 1")

    add_counts({broadcast.pk: {"read": 4, "pending": -1}})
    page.clock.run_for(4_000)
    expect(page.locator(".legend")).to_contain_text("Read 5")
    Broadcast.objects.update(status="cancelled", paused_reason=None, completed_at=broadcast.started_at)
    page.clock.run_for(4_000)
    expect(page.locator("[data-live=status]")).to_have_text("Cancelled")
    assert page.evaluate("window.stays")


def test_sending_to_many_asks_in_a_dialog_that_begins_at_its_way_out(page: Page, channel: Channel) -> None:
    for number in range(3):
        ContactFactory.create(workspace=channel.workspace, phone=f"+493012345{number}")
    a_message_template(channel, name="plain")
    draft = a_draft(channel, message={"template": "plain", "language": "en", "components": []})
    page.goto(f"/app/broadcasts/{draft.uuid}/preview")
    press = page.get_by_role("link", name="Send to 3 now")
    press.click()
    dialog = page.get_by_role("dialog", name="Confirm the broadcast")
    expect(dialog.get_by_role("link", name="Not now")).to_be_focused()
    expect(dialog).to_contain_text("Quayside Support")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(press).to_be_focused()
    assert Broadcast.objects.get().status == "Draft"

    press.click()
    dialog.get_by_role("button", name="Send to 3 now").click()
    expect(page.get_by_text("The broadcast is being sent.")).to_be_visible()
    assert Broadcast.objects.get().status == "Scheduled"
