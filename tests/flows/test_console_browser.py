"""An agency's day at the console, in a real browser: with a mouse, on a phone, without any script."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.limits import unlimited
from agency.models import Plan, User, UserSession
from tests.agency.console.browsers import PASSWORD, a_member
from tests.factories import many_workspaces
from tests.flows.sessions import give_session
from tests.images.pictures import a_picture
from tests.tenants import Tenant
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 360, "height": 740}
Open = Callable[..., Page]
# Browsers log every answer of 422; one form is sent empty on purpose.
A_REFUSED_FORM = "status of 422"


@pytest.fixture
def person(a: Tenant) -> User:
    return a_member(a.agency, "owner").user


@pytest.fixture
def open_browser(browser: Browser, live_server: LiveServer, person: User) -> Iterator[Open]:
    """Open browsers in which the person has signed in; whatever a page complains about fails the story."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(address: str = "/console/", **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        give_session(page.context, person, live_server.url)
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [complaint for complaint in complaints if A_REFUSED_FORM not in complaint] == []


def call(live_server: LiveServer, key: str) -> int:
    """Call the API as the agency's own system would."""
    request = Request(f"{live_server.url}/api/agency/v1/workspaces", headers={"x-api-key": key})
    try:
        with urlopen(request, timeout=60) as answer:
            return len(json.load(answer)["data"])
    except HTTPError as error:
        with error:
            return int(error.code)


def a_first_customer(page: Page) -> None:
    """From a plan to a sub-account that is suspended and restored."""
    page.get_by_role("main").get_by_role("link", name="New plan").click()
    page.get_by_label("Name").fill("Starter")
    page.get_by_label("Contacts").fill("1000")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Starter")

    page.goto("/console/sub-accounts")
    expect(page.get_by_text("No sub-accounts yet")).to_be_visible()
    page.get_by_role("link", name="New sub-account").first.click()
    page.get_by_role("button", name="Create sub-account").click()
    page.get_by_role("alert").get_by_role("link", name="Name: This field is required.").first.click()
    page.get_by_label("Name", exact=True).fill("Corner Salon")
    page.get_by_label("Owner's name").fill("Ada")
    page.get_by_label("Owner's e-mail").fill("ada@example.com")
    page.get_by_label("Plan").select_option(label="Starter")
    page.get_by_role("button", name="Create sub-account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Corner Salon")
    expect(page.locator(".flashes:focus")).to_contain_text("Corner Salon was created.")
    expect(page.get_by_role("row", name="Contacts 0 1,000")).to_be_visible()

    page.get_by_role("link", name="Suspend").click()
    page.get_by_label("Reason").fill("Invoice unpaid")
    page.get_by_role("button", name="Suspend").click()
    expect(page.get_by_text("Invoice unpaid")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".flashes:focus")).to_contain_text("Corner Salon was restored.")


def test_a_logo_is_uploaded_and_looked_at(open_browser: Open) -> None:
    page = open_browser("/console/configuration/brand")
    text = FilePayload(name="a.txt", mimeType="text/plain", buffer=b"hello")
    page.get_by_label("File: Logo", exact=True).set_input_files(text)
    expect(page.get_by_text("The file must be a PNG, JPEG or WebP picture.").first).to_be_visible()
    logo = FilePayload(name="logo.jpg", mimeType="image/jpeg", buffer=a_picture(960, 240, "JPEG"))
    page.get_by_label("Picture").set_input_files(logo)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The picture was saved.")).to_be_visible()
    shown = page.get_by_role("img", name="Logo of")
    expect(shown).to_have_js_property("naturalWidth", 480)
    expect(shown).to_have_js_property("naturalHeight", 120)
    page.get_by_role("button", name="#ff0000").or_(page.get_by_role("button", name="#fe0000")).first.click()
    expect(page.get_by_text("The colour was saved.")).to_be_visible()
    # If the agency's style comes after the page was first shown, the button changes its colour little by little.
    expect(page.locator(".in-dark .button.primary")).to_have_css("background-color", re.compile(r"^rgb\(25"))


def test_a_day_at_the_console(open_browser: Open, live_server: LiveServer, person: User) -> None:
    page = open_browser()
    a_first_customer(page)

    page.get_by_role("navigation", name="Console", exact=True).get_by_role("link", name="API").click()
    page.get_by_role("link", name="New API key").first.click()
    page.get_by_label("Name").fill("CRM sync")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator(".page-title")).to_be_focused()
    key = page.locator(".secret code").inner_text()
    assert call(live_server, key) == 1

    page.reload()
    expect(page.get_by_text("This form was already sent")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(key)
    page.go_back()
    expect(page.locator("main")).not_to_contain_text(key)

    page.goto("/console/configuration/api")
    page.get_by_label("Actions for CRM sync").click()
    page.get_by_role("link", name="Revoke CRM sync").click()
    page.get_by_role("button", name="Revoke key").click()
    until(lambda: call(live_server, key) == 401, what="the key to be revoked")

    page.get_by_role("link", name="Activity").first.click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("API key revoked")
    page.locator("header details.drop").last.locator("summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto("/console/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_session_ends_without_a_script_while_somebody_types(open_browser: Open, person: User) -> None:
    page = open_browser("/console/plans/new", java_script_enabled=False)
    page.get_by_label("Name").fill("Typed too late")
    UserSession.objects.all().delete()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("You were signed out, and nothing was done")).to_be_visible()
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".flashes:focus")).to_contain_text("You were signed out before this was sent.")
    expect(page.get_by_label("Name")).to_have_value("Typed too late")
    assert not Plan.objects.filter(name="Typed too late").exists()
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".flashes:focus")).to_contain_text("Typed too late was created.")
    page.locator("header details.drop").last.locator("summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status").filter(has_text="You are signed out.")).to_be_visible()


def test_on_a_phone_rows_are_cards_and_the_menu_unfolds(open_browser: Open, a: Tenant) -> None:
    many_workspaces(a.agency, 3)
    page = open_browser(viewport=PHONE)
    page.locator(".small-menu summary").click()
    page.get_by_role("navigation", name="Console, folded").get_by_role("link", name="Sub-accounts").click()
    cells = page.locator("tbody tr").first.locator("td")
    tops = [cells.nth(number).bounding_box() for number in range(cells.count())]
    assert len({round(box["y"]) for box in tops if box}) == cells.count()
    page.set_viewport_size({"width": 1280, "height": 800})
    tops = [cells.nth(number).bounding_box() for number in range(cells.count())]
    assert len({round(box["y"]) for box in tops if box}) == 1


def test_a_list_is_sorted_kept_as_a_view_and_come_back_to(open_browser: Open, a: Tenant) -> None:
    many_workspaces(a.agency, 60)
    a.agency.workspaces.update(limits=unlimited())
    page = open_browser("/console/sub-accounts", viewport=PHONE)
    page.get_by_label("Sort by").select_option("Name, ascending")
    expect(page.locator("tbody tr").first).to_contain_text("Crowd 1")
    page.set_viewport_size({"width": 1280, "height": 600})
    page.get_by_role("columnheader", name="Name").get_by_role("link").click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="50 rows on a page").click()
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_text("Save this view").click()
    page.get_by_label("Name of the view").fill("Backwards")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".flashes:focus")).to_contain_text("The view Backwards was saved.")
    expect(page.get_by_role("list", name="Saved views").get_by_role("link")).to_have_attribute("aria-current", "page")
    row = page.get_by_role("link", name="Crowd 20", exact=True)
    row.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 500
    row.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crowd 20")
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(50)
    until(lambda: page.evaluate("place => Math.abs(scrollY - place) < 100", place), what="the place in the list")


def test_the_keyboard_reaches_the_content_and_shows_where_it_is(open_browser: Open) -> None:
    page = open_browser("/console/plans")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Tab")
    width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert width == "2px"
    page.locator("header details.drop").last.locator("summary").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()


def test_a_copied_id_is_announced(open_browser: Open, a: Tenant) -> None:
    page = open_browser(f"/console/sub-accounts/{a.workspace.uuid}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=f"Copy {a.workspace.name}").click()
    expect(page.locator("[data-announcer]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == str(a.workspace.uuid)


PRESS_TWICE = """button => {
    let sent = 0;
    addEventListener('submit', event => { if (!event.defaultPrevented) sent += 1; event.preventDefault(); });
    button.click();
    button.click();
    return sent;
}"""


def test_a_form_is_sent_once_however_often_its_button_is_pressed(open_browser: Open) -> None:
    page = open_browser("/console/plans/new")
    page.get_by_label("Name").fill("Pressed twice")
    assert page.get_by_role("button", name="Create").evaluate(PRESS_TWICE) == 1
