"""Ctrl-K: from anywhere to a sub-account, a page or an action, with the keyboard alone; without a script by a page."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from tests.agency.console.browsers import a_member
from tests.factories import ContactFactory, WorkspaceFactory
from tests.flows.every_page.checks import SCRIPTS, in_all_colours
from tests.flows.sessions import give_session
from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SALON = "Corner Salon"
TYPE_THEN_CLOSE_EVENT = """() => {
    const dialog = document.querySelector("dialog[data-find]");
    const input = dialog.querySelector("input");
    input.value = "salon";
    input.dispatchEvent(new Event("input"));
    dialog.dispatchEvent(new Event("close"));
}"""


def chosen(page: Page) -> Any:
    return page.locator(".find [aria-selected=true]")


def open_home_while_the_script_is_late(page: Page) -> None:
    """The page names the key once it works: one that is pressed before does nothing."""
    held: list[Route] = []
    page.route(re.compile(r"/find[^/]*\.js"), lambda route: held.append(route))
    page.goto("/console/", wait_until="commit")  # it is not loaded without the script
    opener = page.get_by_role("banner").get_by_role("link", name="Find")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(opener.locator("kbd")).to_be_hidden()
    expect(opener).not_to_have_attribute("aria-keyshortcuts", re.compile("K"))
    for one in held:
        one.continue_()
    page.unroute_all()
    expect(opener.locator("kbd")).to_be_visible()
    expect(opener).to_have_attribute("aria-keyshortcuts", "Control+K Meta+K")


def opened_by_key(page: Page) -> Any:
    """Open the palette from a link, to which focus returns."""
    start = page.get_by_role("navigation", name="Console", exact=True).get_by_role("link", name="Team")
    start.focus()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    expect(page.get_by_role("option", name="New plan")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(start).to_be_focused()
    page.keyboard.press("Control+k")
    return box


def with_the_keyboard(page: Page) -> None:
    box = opened_by_key(page)
    page.keyboard.type("salon")
    expect(chosen(page)).to_contain_text(SALON)
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("2 results")
    assert box.get_attribute("aria-activedescendant") == chosen(page).get_attribute("id")
    page.evaluate(SCRIPTS)
    assert page.evaluate("findings", [{}, ".find"]) + in_all_colours(page, ".find") == []
    page.keyboard.press("ArrowDown")
    expect(chosen(page)).to_contain_text("Other Salon")
    expect(chosen(page)).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(chosen(page)).to_contain_text(SALON)
    page.keyboard.press("ArrowUp")
    expect(chosen(page)).to_contain_text("Other Salon")
    page.keyboard.press("Home")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("corner")
    expect(chosen(page)).to_contain_text(SALON)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(SALON)


def close_event_comes_after_reopening(page: Page) -> None:
    """A busy browser sends the event of the last close late. What was typed since is found all the same."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_be_visible()
    page.evaluate(TYPE_THEN_CLOSE_EVENT)
    expect(chosen(page)).to_contain_text(SALON)
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def before_an_answer_is_there(page: Page) -> None:
    """Enter asks for what was typed, never opens what was found for something else."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_be_visible()
    page.get_by_role("combobox").press_sequentially("corner sal")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/console/(find\?q=corner\+sal|sub-accounts/)"))


def without_a_script(page: Page) -> None:
    page.get_by_role("banner").get_by_role("link", name="Find").click()
    page.get_by_role("main").get_by_label("What are you looking for?").fill("corner sal")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name=SALON).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SALON)


def test_customers_find_a_contact_from_any_page(browser: Browser, live_server: LiveServer, a: Tenant) -> None:
    ContactFactory.create(workspace=a.workspace, name="Ada Loewe")
    with browser.new_context(base_url=live_server.url, reduced_motion="reduce") as context:
        page = context.new_page()
        give_session(context, a.workspace.owner, live_server.url)
        page.goto("/app/settings")
        expect(page.get_by_role("banner").locator("kbd")).to_be_visible()
        page.keyboard.press("Control+k")
        expect(page.get_by_role("option", name="Inbox")).to_be_visible()
        page.keyboard.type("loewe")
        expect(chosen(page)).to_contain_text("Ada Loewe")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Ada Loewe")


def test_whatever_is_looked_for_is_a_few_keys_away(browser: Browser, live_server: LiveServer, a: Tenant) -> None:
    for name in (SALON, "Other Salon"):
        WorkspaceFactory.create(agency=a.agency, name=name, owner_name="Ada", owner_email="ada@example.com")
    person = a_member(a.agency, "owner").user
    complaints: list[str] = []
    for scripts in (True, False):
        options: dict[str, Any] = {"java_script_enabled": scripts, "reduced_motion": "reduce"}
        with browser.new_context(base_url=live_server.url, **options) as context:
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            give_session(context, person, live_server.url)
            if scripts:
                open_home_while_the_script_is_late(page)
                with_the_keyboard(page)
                close_event_comes_after_reopening(page)
                before_an_answer_is_there(page)
            else:
                page.goto("/console/")
                without_a_script(page)
    assert complaints == []
