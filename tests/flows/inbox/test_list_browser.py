"""In a real browser: the list is renewed under a press and under the keyboard, and nothing is lost."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MARK_RENEWAL = """() => document.addEventListener("inbox:swapped", () => {
    document.documentElement.dataset.renewed = "yes";
})"""
# The focused row is kept with its selected name, and every loss of focus is counted.
WATCH_FOCUS = """() => {
    window.row = document.activeElement;
    window.losses = 0;
    document.addEventListener("focusout", () => { window.losses += 1; });
    getSelection().selectAllChildren(window.row.querySelector(".inbox-who"));
}"""
IS_KEPT = """() => [window.row === document.activeElement, window.losses, getSelection().toString()]"""


@pytest.fixture
def listed(page: Page, channel: Channel) -> Page:
    receive(*(received(channel, person=person(number), at=moment(-number)) for number in (3, 2, 1)))
    expect(page.locator(".inbox-row")).to_have_count(3)
    page.evaluate(MARK_RENEWAL)
    return page


def renew_under_a_press(listed: Page, channel: Channel, stranger: int) -> None:
    """Press the row of Person 3, and let the list be renewed by a message before the press ends."""
    listed.evaluate("delete document.documentElement.dataset.renewed")
    listed.locator(".inbox-row", has_text="Person 3").hover()
    listed.mouse.down()
    receive(received(channel, person=person(stranger)))
    expect(listed.locator("html[data-renewed]")).to_be_attached()


def test_a_list_is_renewed_after_a_press_and_the_press_opens_its_conversation(listed: Page, channel: Channel) -> None:
    rows = listed.locator(".inbox-row")
    renew_under_a_press(listed, channel, stranger=4)
    expect(rows).to_have_count(3)
    listed.mouse.move(1, 1)
    listed.mouse.up()
    expect(rows).to_have_count(4)

    renew_under_a_press(listed, channel, stranger=5)
    listed.mouse.up()
    expect(listed.get_by_role("heading", name="Person 3")).to_be_visible()
    expect(rows.filter(has_text="Person 5")).to_be_visible()


def test_focus_and_selection_stay_on_the_row_wherever_it_moves(listed: Page, channel: Channel) -> None:
    rows = listed.locator(".inbox-row")
    rows.nth(1).focus()
    listed.evaluate(WATCH_FOCUS)
    receive(received(channel, person=person(4)), received(channel, person=person(3), text="Again"))
    expect(rows).to_have_count(4)
    expect(rows.nth(3)).to_contain_text("Person 2")
    assert listed.evaluate(IS_KEPT) == [True, 0, "Person 2"]
    receive(received(channel, person=person(2), text="And I?"))
    expect(rows.first).to_contain_text("And I?")
    assert listed.evaluate(IS_KEPT) == [True, 0, "Person 2"]
    listed.keyboard.press("Enter")
    expect(listed).to_have_url(re.compile("/app/inbox/.+"))
    expect(listed.get_by_role("heading", name="Person 2")).to_be_visible()
