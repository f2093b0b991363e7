"""The main pages look as they did when their pictures were taken; `make screenshots` takes them anew."""

import os
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from tests.flows.screenshots.comparing import difference, smaller
from tests.flows.screenshots.conftest import STYLED, Open, Take
from tests.flows.screenshots.pages import PAGES, Shown

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS: Final = (390, 768, 1440)
LOOKS: Final = tuple(product(WIDTHS, ("light", "dark")))
# What is compared by every run; the others are taken for whoever reads, and looked at when they are taken.
COMPARED: Final = ((1440, "light"), (390, "dark"))
# Two browsers on machines with other fonts' hints differ by less; a button in another colour is already more.
MOST: Final = 0.02
PICTURES: Final = Path(__file__).parents[3] / "docs" / "images" / "pages"
TAKING: Final = bool(os.environ.get("TAKE_SCREENSHOTS"))
# Each of these styles changes a page by more.
CHANGES: Final = (
    "main { padding-top: 1.5rem !important }",
    "body { color: #777 !important; background: #fafad2 !important }",
    "table, .table, ul, dl { display: none !important }",
)


def picture_of(which: Shown, width: int, theme: str) -> Path:
    return PICTURES / f"{which.name}-{width}-{theme}.png"


def test_the_main_pages_look_as_they_did(open_page: Open, take_picture: Take) -> None:
    changed = []
    for which in PAGES:
        open_page(which, max(WIDTHS))
        for width, theme in LOOKS if TAKING else COMPARED:
            kept, taken = picture_of(which, width, theme), take_picture(width, theme)
            if TAKING:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(smaller(taken))
            else:
                apart = difference(kept.read_bytes(), taken)
                changed += [f"{kept.name}: {apart:.1%} of it"] if apart > MOST else []
    assert not changed, "These look different; if that is meant: make screenshots\n" + "\n".join(changed)


def test_a_page_that_changed_is_noticed(open_page: Open, take_picture: Take) -> None:
    page = open_page(next(one for one in PAGES if one.name == "console-sub-accounts"), 1440)
    before = take_picture(1440, "light")
    kept = smaller(before)
    assert difference(kept, before) == 0
    for style in CHANGES:
        page.evaluate(STYLED, style)
        assert difference(kept, take_picture(1440, "light")) > MOST, style


def test_every_picture_belongs_to_a_page() -> None:
    wanted = {picture_of(which, width, theme) for which in PAGES for width, theme in LOOKS}
    assert set(PICTURES.glob("*.png")) == wanted
