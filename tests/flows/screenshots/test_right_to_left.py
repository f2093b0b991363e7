"""In a language that is written from right to left a page is its own mirror picture, and fits as well."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.flows.screenshots.conftest import HIGHEST, Open
from tests.flows.screenshots.pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIDES = re.compile(
    r"\b(?:margin|padding|border)-(?:left|right)\b|text-align: (?:left|right)|(?<![-\w])(?:left|right): "
)
# What is in the middle of the window is so from either side.
IN_THE_MIDDLE = "translateX(-50%)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MENU_ENDS_AT = "innerWidth - document.querySelector('.side').getBoundingClientRect().right"


def test_pages_are_mirrored_and_fit(settings: Any, open_page: Open, page: Page, live_server: LiveServer) -> None:
    settings.LANGUAGES = [*settings.LANGUAGES, ("ar", "Arabic")]
    page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": "ar", "url": live_server.url}])
    wrong = []
    for which in PAGES:
        open_page(which, 390)
        assert page.locator("html").get_attribute("dir") == "rtl", which.name
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": HIGHEST})
            if page.evaluate(TOO_WIDE) > 0:
                wrong.append(f"{which.name} is too wide at {width}")
            if width == 1440 and which.area != "nobody" and abs(page.evaluate(MENU_ENDS_AT)) > 20:
                wrong.append(f"the menu of {which.name} is on the left")
    assert not wrong, "\n".join(wrong)


def test_styles_name_no_side() -> None:
    found = [
        f"{path.name}:{number}: {line.strip()[:80]}"
        for path in (Path(project.BASE_DIR) / "templates" / "static").rglob("*.css")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if SIDES.search(line) and IN_THE_MIDDLE not in line
    ]
    assert not found, "\n".join(found)
