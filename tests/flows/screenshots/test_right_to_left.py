"""In a language that is written from right to left a page is its own mirror picture, and fits as well."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project

from tests.flows.screenshots.conftest import Open
from tests.flows.screenshots.pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIDES = re.compile(
    r"\b(?:margin|padding|border)-(?:left|right)\b|text-align: (?:left|right)|(?<![-\w])(?:left|right): "
)
# What is in the middle of the window is so from either side.
IN_THE_MIDDLE = "translateX(-50%)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MENU_ENDS_AT = "innerWidth - document.querySelector('.side').getBoundingClientRect().right"


def test_pages_are_mirrored_and_fit(settings: Any, open_page: Open) -> None:
    settings.LANGUAGES = [*settings.LANGUAGES, ("ar", "Arabic")]
    wrong = []
    for which in PAGES:
        for width in (390, 1440):
            page = open_page(which, width)
            if which is PAGES[0] and width == 390:
                site = page.url.split("/account", 1)[0]
                page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": "ar", "url": site}])
                page.reload()
            assert page.locator("html").get_attribute("dir") == "rtl", which.name
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
