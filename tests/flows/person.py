"""Somebody at a page with a mouse, whose clicks and fields are counted."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect


@dataclass
class Person:
    """Does with a page what a person does, and counts it."""

    page: Page
    clicks: int = 0
    fields: int = 0

    def begin(self) -> None:
        """Start at home, with nothing counted."""
        self.page.goto("/console/")
        self.clicks = self.fields = 0

    def click(self, role: Any, name: str, *, inside: str = "main", exact: bool = True) -> None:
        """Press a link or a button."""
        self.press(self.page.locator(inside).get_by_role(role, name=name, exact=exact).first)

    def open(self, name: str) -> None:
        """Choose a page from the menu."""
        menu = self.page.get_by_role("navigation", name="Console", exact=True)
        self.press(menu.get_by_text(name, exact=True))

    def tick(self, name: str) -> None:
        self.press(self.page.locator("main").get_by_label(name).first)

    def fill(self, label: str, words: str) -> None:
        box = self.page.locator("main").get_by_label(label, exact=True)
        box.fill(words)
        self.fields += 1

    def choose(self, label: str, option: str) -> None:
        """Choose from a list: one field."""
        box = self.page.locator("main").get_by_label(label, exact=True)
        box.select_option(label=option)
        expect(box.locator("option:checked")).to_have_text(option)
        self.fields += 1

    def sees_message(self, words: str) -> None:
        """Expect a message, on which focus stands."""
        expect(self.page.locator(".flashes:focus")).to_contain_text(words)

    def sees_heading(self, words: str, *, focused: bool = False) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(words)
        if focused:
            expect(self.page.locator(".page-title")).to_be_focused()

    def press(self, target: Locator) -> None:
        target.click()
        self.clicks += 1
