"""A busy agency and customer, and a browser that looks at their pages."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings as project
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from tests.agency.console.browsers import a_browser
from tests.flows.screenshots.business import BusyTenant
from tests.flows.screenshots.pages import Shown
from tests.packs.small_library import write_library

HIGHEST: Final = 1100
SETTLING: Final = Path(__file__).with_name("settling.js").read_text()
# The pages' policy lets nobody write a style into them.
STYLED: Final = """style => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    document.adoptedStyleSheets = [sheet];
}"""
Take = Callable[[int, str], bytes]
Open = Callable[[Shown, int], Page]


@pytest.fixture
def business(transactional_db: None, settings: Any, tmp_path: Path) -> BusyTenant:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    return BusyTenant()


@pytest.fixture
def page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    options: dict[str, Any] = {"reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "Europe/Berlin"}
    context = browser.new_context(base_url=live_server.url, **options)
    yield context.new_page()
    context.close()


@pytest.fixture
def open_page(page: Page, business: BusyTenant, live_server: LiveServer) -> Open:
    """Open a page as whoever looks at it."""
    people: dict[str, User] = {"console": business.staff, "app": business.customer.owner}
    sessions = {area: a_browser(person).cookies[project.SESSION_COOKIE_NAME].value for area, person in people.items()}

    def opened(which: Shown, width: int) -> Page:
        _use_session(page, live_server.url, sessions.get(which.area))
        page.set_viewport_size({"width": width, "height": HIGHEST})
        answer = page.goto(which.address(business))
        assert answer
        assert answer.status == 200, which.name
        return page

    return opened


@pytest.fixture
def take_picture(page: Page) -> Take:
    """Take a picture of the open page at a width and in a theme."""

    def taken(width: int, theme: str) -> bytes:
        page.set_viewport_size({"width": width, "height": HIGHEST})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.evaluate(f"{SETTLING}; settle()")
        return page.screenshot(animations="disabled", caret="hide")

    return taken


def _use_session(page: Page, url: str, session: str | None) -> None:
    page.context.clear_cookies(name=project.SESSION_COOKIE_NAME)
    if session:
        page.context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": url}])
