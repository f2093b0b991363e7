"""What must be true of every page, asked of the browser: it fits, it can be named and hit, and axe finds nothing."""

from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page

WIDTHS = (*range(320, 1440, 64), 1440)
PHONE, DESK = 320, 1440
HEIGHT = 900
CHECKS = Path(__file__).with_suffix(".js").read_text()
# A theme changes colours and nothing else.
COLOURS = {"runOnly": ["color-contrast"]}


def prepare(context: BrowserContext) -> None:
    """Give every page of a browser axe and the checks."""
    context.add_init_script(AXE_SCRIPT + CHECKS)


def examine(page: Page) -> list[str]:
    """Look at the loaded page at every width and in both themes; give what is wrong with it."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        found += [f"at {width}: {one}" for one in page.evaluate("outside()")]
        if width == PHONE:
            found += page.evaluate("unusable()") + findings(page)
    return found + in_the_dark(page)


def in_the_dark(page: Page, part: str = "") -> list[str]:
    page.emulate_media(color_scheme="dark")
    found = [f"dark: {one}" for one in findings(page, COLOURS, part)]
    page.emulate_media(color_scheme="light")
    return found


def findings(page: Page, options: dict[str, Any] | None = None, part: str = "") -> list[str]:
    """Give what axe finds serious or critical, in the whole page or in what a selector names."""
    found: list[str] = page.evaluate("([options, part]) => findings(options, part || document)", [options or {}, part])
    return found


def examine_menus(page: Page) -> list[str]:
    """Open the menus, on a phone and at a desk."""
    found = []
    for width in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.evaluate("openMenus()")
        opened = page.evaluate("outside()") + findings(page, part=".drop") + in_the_dark(page, part=".drop")
        found += [f"menus at {width}: {one}" for one in opened]
    return found
