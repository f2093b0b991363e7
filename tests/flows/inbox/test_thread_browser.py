"""In a real browser: a thread ends at its end, whenever what stands in it has come."""

import io

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from tests.flows.inbox.opened import HeldUp
from tests.images.pictures import a_picture
from tests.waiting import until
from tests.workspaces.conversations.facts import moment, receive, received
from workspaces.conversations.models import Message
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FROM_THE_END = "log => Math.round(log.scrollHeight - log.clientHeight - log.scrollTop)"
PICTURE = a_picture(600, 900)
# The next frame tells of the scrolling. Before it, the page swaps its parts, and a picture comes.
SCROLL_UP_AND_HEAR_BEFORE_THE_NEXT_FRAME = """log => {
  log.scrollTo(0, 0);
  document.dispatchEvent(new Event("inbox:swapped"));
  log.querySelector("img").dispatchEvent(new Event("load"));
}"""


def receive_picture(channel: Channel, number: int) -> None:
    receive(received(channel, text=f"Picture {number}"))
    source, content = Media.Source.UPLOADED, io.BytesIO(PICTURE + bytes([number]))
    media = store_media(workspace=channel.workspace, file=content, filename=f"{number}.png", source=source, now=now())
    Message.objects.filter(text=f"Picture {number}").update(type="image", media=media)


def from_the_end(page: Page) -> int:
    return int(page.locator("[data-log]").evaluate(FROM_THE_END))


def ends_at_its_end(page: Page) -> bool:
    return until(lambda: from_the_end(page) <= 1, what="the thread's end")


def pictures_have_come(page: Page) -> bool:
    arrived = "all => all.every(one => one.complete && one.naturalHeight)"
    return until(lambda: bool(page.locator(".bubble img").evaluate_all(arrived)), what="the pictures")


def show_pictures(page: Page) -> HeldUp:
    """Answer for the pictures, once they are let go."""
    return HeldUp(page, "**/media/**", body=PICTURE, content_type="image/png")


def test_a_thread_ends_at_its_end_after_its_pictures_have_come(page: Page, channel: Channel) -> None:
    receive(*(received(channel, text=f"Text {number}", at=moment(number - 60)) for number in range(30)))
    for number in (1, 2):
        receive_picture(channel, number)
    pictures = show_pictures(page)
    page.locator(".inbox-row").click(no_wait_after=True)
    expect(page.locator(".bubble img")).to_have_count(2)
    expect(page.locator(".bubble").last).to_be_in_viewport()
    pictures.let_go()
    pictures_have_come(page)
    ends_at_its_end(page)
    receive_picture(channel, 3)
    receive(received(channel, text="This is it"))
    expect(page.locator(".bubble").last).to_contain_text("This is it")
    expect(page.locator(".bubble img")).to_have_count(3)
    pictures_have_come(page)
    ends_at_its_end(page)


def test_who_has_scrolled_up_is_left_where_they_are(page: Page, channel: Channel) -> None:
    receive(*(received(channel, text=f"Text {number}", at=moment(number - 60)) for number in range(30)))
    receive_picture(channel, 1)
    pictures = show_pictures(page)
    page.locator(".inbox-row").click(no_wait_after=True)
    # Neither the page that is left nor one that is still empty has such a row.
    expect(page.locator(".has-thread .inbox-row:not(.unread)")).to_have_count(1)
    ends_at_its_end(page)
    page.locator("[data-log]").evaluate(SCROLL_UP_AND_HEAR_BEFORE_THE_NEXT_FRAME)
    pictures.let_go()
    receive(received(channel, text="Are you there?"))
    expect(page.locator(".bubble").last).to_contain_text("Are you there?")
    assert from_the_end(page) > 100
    page.locator("[data-log]").evaluate("log => log.scrollTo(0, log.scrollHeight)")
    receive(received(channel, text="Hello?"))
    expect(page.locator(".bubble").last).to_contain_text("Hello?")
    ends_at_its_end(page)
