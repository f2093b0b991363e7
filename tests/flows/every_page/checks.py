"""What must be true of every page, asked of the browser: it fits, it can be named and hit, and axe finds nothing."""

from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

Theme = Literal["dark", "light"]
WIDTHS = [*range(320, 1440, 64), 1440]
SOME_WIDTHS = WIDTHS[::6]
PHONE: ViewportSize = {"width": 320, "height": 900}
DESK: ViewportSize = {"width": 1440, "height": 900}
SCRIPTS = AXE_SCRIPT + Path(__file__).with_suffix(".js").read_text()
# Without transitions, so that no colour is looked at on its way.
THEMES: tuple[Theme, ...] = ("dark", "light")
OPTIONS: dict[str, Any] = {"viewport": PHONE, "reduced_motion": "reduce"}
# A theme changes colours and nothing else; looking at them is most of axe's work.
COLOURS = {"runOnly": ["color-contrast"]}
# Kinds of elements whose colours were looked at: the agency's one colour and the styles are the same on all pages.
_colours_seen: set[str] = set()
# Likewise the few pairs of text and ground with forced colours, what a background alone draws, and what had the focus.
_pairs_seen: set[str] = set()
_painted_seen: set[str] = set()
_focused_seen: set[str] = set()
ALL_BUT_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}
WITH_ERRORS = ".summary, .field:has([aria-invalid=true])"
# The form of a page, if there is anything to be filled in.
FORM = "main form[novalidate]:has(input:not([type=hidden], [type=checkbox], [type=radio]), textarea)"
SEND_EMPTY = """form => {
    for (const field of form.querySelectorAll("input:not([type=hidden], [type=file]), textarea")) {
        if (["checkbox", "radio"].includes(field.type)) field.checked = false;
        else field.value = "";
    }
    form.requestSubmit();
}"""


def examine(page: Page, part: str = "", coloured: str = "", widths: list[int] = WIDTHS) -> list[str]:
    """Look at a loaded page at every width, and by axe, at all of it or at a part; give what is wrong.

    `coloured` names a part that has all the colours of the page, where there is too much of it.
    """
    page.evaluate(SCRIPTS)
    found: list[str] = page.evaluate("heavy()") + page.evaluate("outsideAt", widths)
    found += page.evaluate("unusable()") + page.evaluate("findings", [ALL_BUT_COLOURS, part])
    return found + in_all_colours(page, coloured or part)


def examine_errors(page: Page) -> list[str]:
    """Send the page's form with nothing filled in; some are content with that."""
    with page.expect_navigation():
        page.locator(FORM).first.evaluate(SEND_EMPTY)
    if not page.locator(".summary").count():
        return []
    return examine(page, "main", coloured=WITH_ERRORS, widths=SOME_WIDTHS)


def in_all_colours(page: Page, part: str = "") -> list[str]:
    """Give the contrasts that are too low in either theme or with forced colours, and what these take away.

    It looks at what is styled as nothing was on the pages before.
    """
    found: list[str] = []
    kinds = page.evaluate("markNewColours", [part, sorted(_colours_seen)])
    painted = page.evaluate("keepPainted", [part, sorted(_painted_seen)])
    for theme in THEMES if kinds else ():
        page.emulate_media(color_scheme=theme)
        found += [f"{theme}: {one}" for one in page.evaluate("findings", [COLOURS, "[data-new-colours]"])]
    if kinds or painted:
        found += [f"forced colours: {one}" for one in _in_forced_colours(page)]
    page.evaluate("unmarkColours()")
    _colours_seen.update(kinds)
    _painted_seen.update(painted)
    return found


def _in_forced_colours(page: Page) -> list[str]:
    page.emulate_media(forced_colors="active")
    found: list[str] = page.evaluate("lostInForcedColours()")
    pairs = page.evaluate("keepNewPairs", sorted(_pairs_seen))
    if pairs:
        found += page.evaluate("findings", [COLOURS, "[data-new-colours]"])
    kinds, unfocused = page.evaluate("unfocused", sorted(_focused_seen))
    _pairs_seen.update(pairs)
    _focused_seen.update(kinds)
    page.emulate_media(forced_colors="none")
    found += unfocused
    return found


def examine_frame(page: Page) -> list[str]:
    """Look at the frame of an area, which is the same around all of its pages: at a desk, and with open menus."""
    page.evaluate(SCRIPTS)
    found = []
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        page.evaluate("openMenus()")
        found += page.evaluate("outsideAt", [size["width"]]) + page.evaluate("findings", [ALL_BUT_COLOURS, ".drop"])
        found += in_all_colours(page, ".drop")
    page.evaluate("closeMenus()")
    found += in_all_colours(page)
    page.set_viewport_size(PHONE)
    return found
