"""The main pages look as they did when their pictures were taken; `make screenshots` takes them anew."""

import os
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

from tests.flows.screenshots.comparing import difference, smaller
from tests.flows.screenshots.conftest import STYLED, Show
from tests.flows.screenshots.pages import PAGES, Shown

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS: Final = (390, 768, 1440)
THEMES: Final = ("light", "dark")
# What is compared by every run; the others are taken for whoever reads, and looked at when they are taken.
COMPARED: Final = {(1440, "light"), (390, "dark")}
# Two browsers on machines with other fonts' hints differ by less; a button in another colour is already more.
MOST: Final = 0.02
PICTURES: Final = Path(__file__).parents[3] / "docs" / "images" / "pages"
TAKING: Final = bool(os.environ.get("TAKE_SCREENSHOTS"))


def picture_of(which: Shown, width: int, theme: str) -> Path:
    return PICTURES / f"{which.name}-{width}-{theme}.png"


def test_the_main_pages_look_as_they_did(show: Show) -> None:
    changed = []
    for which in PAGES:
        for width in WIDTHS:
            for theme in THEMES:
                kept = picture_of(which, width, theme)
                if TAKING:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_bytes(show(which, width, theme))
                elif (width, theme) in COMPARED:
                    apart = difference(kept.read_bytes(), show(which, width, theme))
                    changed += [f"{kept.name}: {apart:.1%} of it"] if apart > MOST else []
    assert not changed, "These look different; if that is meant: make screenshots\n" + "\n".join(changed)


@pytest.mark.parametrize(
    "style",
    [
        "main { padding-top: 1.5rem !important }",
        "body { color: #777 !important; background: #fafad2 !important }",
        "table, .table, ul, dl { display: none !important }",
    ],
)
def test_a_page_that_changed_is_noticed(show: Show, page: Page, style: str) -> None:
    which = next(one for one in PAGES if one.name == "console-sub-accounts")
    before = show(which, 1440, "light")
    page.evaluate(STYLED, style)
    after = smaller(page.screenshot(animations="disabled", caret="hide"))
    assert difference(before, before) == 0
    assert difference(before, after) > MOST


def test_every_picture_belongs_to_a_page() -> None:
    wanted = {picture_of(which, width, theme) for which in PAGES for width in WIDTHS for theme in THEMES}
    assert set(PICTURES.glob("*.png")) == wanted
