"""Somebody at a page, whose clicks and fields are counted: with a mouse, or without JavaScript with a mouse too."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect


@dataclass
class Person:
    """Does with a page what a person with a mouse does, and counts it."""

    page: Page
    home: str = "/console/"
    menu: str = "Console"
    has_scripts: bool = True
    clicks: int = 0
    fields: int = 0
    # The scripts that the person at the keyboard has met, beside those of every page.
    scripts: set[str] = field(default_factory=set)
    # What they have beside the browser, by its name: a file, an address.
    at_hand: dict[str, Any] = field(default_factory=dict)

    def begin(self, address: str | None = None) -> None:
        """Start at home, or at a link that somebody was sent, with nothing counted."""
        self.page.goto(address or self.home)
        self.begin_here()

    def begin_here(self) -> None:
        """Start with what every page has, its menu or its search: from home it takes as many clicks."""
        self.clicks = self.fields = 0

    def click(self, role: Any, name: str, *, inside: str = "main", exact: bool = True) -> None:
        """Press a link or a button."""
        self.press(self.page.locator(inside).get_by_role(role, name=name, exact=exact).first)

    def open(self, name: str) -> None:
        """Choose a page from the menu."""
        self.press(self.link_of_menu(name))

    def link_of_menu(self, name: str) -> Locator:
        menu = self.page.get_by_role("navigation", name=self.menu, exact=True)
        return menu.get_by_role("link", name=name, exact=True)

    def tick(self, label: str) -> None:
        """Choose a box or one of several possibilities: a click."""
        box = self.page.locator("main").get_by_label(label).first
        self.set_box(box)
        expect(box).to_be_checked()
        self.clicks += 1

    def fill(self, label: str, text: str) -> None:
        box = self.page.locator("main").get_by_label(label, exact=True).first
        self.type_into(box, text)
        expect(box).to_have_value(text)
        self.fields += 1

    def choose(self, label: str, option: str) -> None:
        """Choose from a list: one field."""
        box = self.page.locator("main").get_by_role("combobox", name=label, exact=True).first
        self.select_in(box, option)
        expect(box.locator("option:checked")).to_have_text(option)
        self.fields += 1

    def find(self, text: str, found: str) -> None:
        """Look for something from anywhere, and open it."""
        opener = self.page.get_by_role("banner").get_by_role("link", name="Find")
        self.press(opener)
        self.page.get_by_role("combobox", name="What are you looking for?").fill(text)
        self.fields += 1
        expect(self.page.locator(".find [aria-selected=true]")).to_contain_text(found)
        self.page.keyboard.press("Enter")

    def copy(self, name: str) -> None:
        """Take a secret along, which is selected by hand where no button does it."""
        self.click("button", f"Copy {name}")
        expect(self.page.locator("[data-announcer]")).to_have_text("Copied")

    def upload(self, label: str, file: Path) -> None:
        """Choose a file, which is sent at once: a click."""
        chooser = self.page.get_by_label(label, exact=True)
        with self.page.expect_file_chooser() as choosing, self.page.expect_navigation():
            self.press(chooser)
            choosing.value.set_files(file)

    def sees_message(self, text: str) -> None:
        """Expect a message, on which focus stands."""
        expect(self.page.locator(".flashes:focus")).to_contain_text(text)

    def sees_heading(self, text: str, *, focused: bool = False) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)
        if focused:
            expect(self.page.locator(".page-title")).to_be_focused()

    def press(self, target: Locator) -> None:
        self.activate(target)
        self.clicks += 1

    def activate(self, target: Locator) -> None:
        target.click()

    def set_box(self, box: Locator) -> None:
        box.click()

    def type_into(self, box: Locator, text: str) -> None:
        box.fill(text)

    def select_in(self, box: Locator, option: str) -> None:
        box.select_option(label=option)


@dataclass
class PersonWithoutScripts(Person):
    """Has switched JavaScript off."""

    has_scripts: bool = False

    def find(self, text: str, found: str) -> None:
        self.press(self.page.get_by_role("banner").get_by_role("link", name="Find"))
        self.fill("What are you looking for?", text)
        self.page.keyboard.press("Enter")
        self.click("link", found)

    def copy(self, name: str) -> None:
        expect(self.page.get_by_role("button", name=f"Copy {name}")).to_be_hidden()
        expect(self.page.locator("main .secret code")).to_be_visible()

    def upload(self, label: str, file: Path) -> None:
        chooser = self.page.get_by_label(label, exact=True)
        with self.page.expect_file_chooser() as choosing:
            self.press(chooser)
        choosing.value.set_files(file)
        self.press(self.page.locator("form", has=chooser).get_by_role("button", name="Upload"))
