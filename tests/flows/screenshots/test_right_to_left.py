"""In a language that is written from right to left a page is its own mirror picture, and fits as well.

Here are the pages of one frame each; `test_languages` turns every page.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.flows.screenshots.conftest import Open
from tests.flows.screenshots.pages import PAGES, Shown

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIDES = re.compile(
    r"\b(?:margin|padding|border)-(?:left|right)\b|text-align: (?:left|right)|(?<![-\w])(?:left|right): "
)
# What is in the middle of the window is so from either side.
IN_THE_MIDDLE = "translateX(-50%)"
NARROW, WIDE, LOW = 390, 1440, 120
DIRECTION = """<html lang="{{ language }}"{% if is_rtl %} dir="rtl"{% endif %}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MENU_ENDS_AT = "innerWidth - document.querySelector('.side').getBoundingClientRect().right"


def both_widths(page: Page) -> Iterator[int]:
    """Make the page as wide as a phone and as a desk's screen, beginning with what it is now, and low: nobody looks."""
    now = (page.viewport_size or {"width": NARROW})["width"]
    for width in (WIDE, NARROW) if now == WIDE else (NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": LOW})
        yield width


def not_mirrored(page: Page, which: Shown) -> list[str]:
    """Say what is wrong with a page that is written from right to left."""
    wrong = []
    for width in both_widths(page):
        if page.evaluate(TOO_WIDE) > 0:
            wrong.append(f"{which.name} is too wide at {width} from right to left")
        if width == WIDE and which.area != "nobody" and abs(page.evaluate(MENU_ENDS_AT)) > 20:
            wrong.append(f"the menu of {which.name} is on the left")
    return wrong


def test_pages_are_mirrored_and_fit(settings: Any, open_page: Open, page: Page, live_server: LiveServer) -> None:
    settings.LANGUAGES = [*settings.LANGUAGES, ("ar", "Arabic")]
    page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": "ar", "url": live_server.url}])
    wrong = []
    for which in {one.area: one for one in PAGES}.values():
        open_page(which, 390)
        assert page.locator("html").get_attribute("dir") == "rtl", which.name
        wrong += not_mirrored(page, which)
    assert not wrong, "\n".join(wrong)


def test_every_page_takes_its_direction_from_the_same_place() -> None:
    """Only the frame of all pages begins a page, and says its direction."""
    templates = Path(project.BASE_DIR) / "templates"
    begins = {path.relative_to(templates).as_posix(): path.read_text() for path in templates.rglob("*.html")}
    frames = {name: text for name, text in begins.items() if "<html" in text}
    assert [name for name, text in frames.items() if DIRECTION not in text] == []


def test_styles_name_no_side() -> None:
    found = [
        f"{path.name}:{number}: {line.strip()[:80]}"
        for path in (Path(project.BASE_DIR) / "templates" / "static").rglob("*.css")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if SIDES.search(line) and IN_THE_MIDDLE not in line
    ]
    assert not found, "\n".join(found)
