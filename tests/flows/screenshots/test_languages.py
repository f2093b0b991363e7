"""In every language the pages' words fit: none is cut off, and no page becomes wider than its window.

In the last one they are looked at from right to left, too.
"""

import pytest
from django.conf import settings as project
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.flows.screenshots.conftest import STYLED, Open
from tests.flows.screenshots.pages import PAGES, Shown
from tests.flows.screenshots.test_right_to_left import both_widths, not_mirrored

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

# The page in another language in place of this one, whose styles stay; what its scripts show is shown again.
SPEAK = """async () => {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { lang } = page.documentElement;
    document.documentElement.lang = lang;
    document.body.replaceWith(document.adoptNode(page.body));
    for (const one of document.querySelectorAll("script[src]")) await import(`${one.src}?in=${lang}`);
}"""
TURN = "document.documentElement.dir = 'rtl'"


def finds_a_word_that_is_cut_off(page: Page) -> bool:
    page.evaluate(STYLED, "h1 { width: 3rem; overflow: hidden; white-space: nowrap }")
    return bool(page.evaluate(CLIPPED))


def cut_off(page: Page, which: Shown, code: str) -> list[str]:
    assert (page.locator("html").get_attribute("lang") or "").lower() == code
    found = []
    for width in both_widths(page):
        found += [f"{which.name} in {code} at {width}: {one}" for one in page.evaluate(CLIPPED)]
    return found


def test_no_word_is_cut_off_and_every_page_has_a_mirror_picture(
    open_page: Open, page: Page, live_server: LiveServer
) -> None:
    found = []
    for which in PAGES:
        for code in OTHERS:
            page.context.add_cookies([{"name": project.LANGUAGE_COOKIE_NAME, "value": code, "url": live_server.url}])
            if code == OTHERS[0]:
                open_page(which, 390)
            else:
                page.evaluate(SPEAK)
            found += cut_off(page, which, code)
        page.evaluate(TURN)
        found += not_mirrored(page, which)
    assert not found, "\n".join(found)
    assert finds_a_word_that_is_cut_off(page)
