"""In every language the pages' words fit: none is cut off, and no page becomes wider than its window."""

import pytest
from django.conf import settings as project
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.flows.screenshots.conftest import HIGHEST, STYLED, Open
from tests.flows.screenshots.pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OTHERS = [code for code, _ in project.LANGUAGES if code != project.LANGUAGE_CODE]
# Words in a box that hides what does not fit. Names that people chose may end in an ellipsis, the product may not.
CLIPPED = """() => {
    const found = [];
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) found.push("the page is too wide");
    for (const part of document.querySelectorAll("button, a, label, th, h1, h2, h3, summary, legend, .badge")) {
        const style = getComputedStyle(part);
        const hides = style.overflowX !== "visible" && style.clipPath === "none";
        const isCut = part.clientWidth > 1 && part.scrollWidth > part.clientWidth + 1;
        if (hides && isCut) found.push(part.textContent.trim());
    }
    return found;
}"""


def finds_a_word_that_is_cut_off(page: Page) -> bool:
    page.evaluate(STYLED, "h1 { width: 3rem; overflow: hidden; white-space: nowrap }")
    return bool(page.evaluate(CLIPPED))


def test_no_word_is_cut_off(open_page: Open, page: Page, live_server: LiveServer) -> None:
    found = []
    for code in OTHERS:
        page.context.add_cookies([{"name": project.LANGUAGE_COOKIE_NAME, "value": code, "url": live_server.url}])
        for which in PAGES:
            open_page(which, 390)
            assert (page.locator("html").get_attribute("lang") or "").lower() == code
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": HIGHEST})
                found += [f"{which.name} in {code} at {width}: {one}" for one in page.evaluate(CLIPPED)]
    assert not found, "\n".join(found)
    assert finds_a_word_that_is_cut_off(page)
