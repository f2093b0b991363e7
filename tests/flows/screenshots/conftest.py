"""A busy agency and customer, and a browser that looks at their pages."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings as project
from django.test import Client
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from tests.flows.screenshots.business import BusyTenant
from tests.flows.screenshots.comparing import smaller
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
Show = Callable[[Shown, int, str], bytes]
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
    people: dict[str, User | None] = {"nobody": None, "console": business.staff, "app": business.customer.owner}

    def opened(which: Shown, width: int) -> Page:
        _be(page, live_server.url, people[which.area])
        page.set_viewport_size({"width": width, "height": HIGHEST})
        answer = page.goto(which.address(business))
        assert answer
        assert answer.status == 200, which.name
        return page

    return opened


@pytest.fixture
def show(open_page: Open) -> Show:
    """Open a page in a theme, and give its picture."""

    def shown(which: Shown, width: int, theme: str) -> bytes:
        page = open_page(which, width)
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.evaluate(f"{SETTLING}; settle()")
        return smaller(page.screenshot(animations="disabled", caret="hide"))

    return shown


def _be(page: Page, url: str, person: User | None) -> None:
    page.context.clear_cookies(name=project.SESSION_COOKIE_NAME)
    if person:
        client = Client()
        client.force_login(person)
        session = client.cookies[project.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": url}])
