"""Somebody who uses the keyboard alone, and complains as soon as focus cannot be seen, is lost or is trapped."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.flows.tasks.person import Person
from tests.waiting import until

FOCUS = Path(__file__).with_name("focus.js").read_text()
# Pages without a menu have nothing to be skipped.
IS_BEHIND_A_MENU = "element => Boolean(element.closest('main') && document.querySelector('a.skip'))"
# The browser moves focus to what has `autofocus`, such as a message, a moment after the page is seen.
HAS_SET_FOCUS = "!document.querySelector('[autofocus]') || document.activeElement !== document.body"
# More than any page of these tasks has to pass on the way to one thing in its content.
MOST_TABS = 150


def complain_of(focus: dict[str, Any], before: str, stops: int) -> None:
    """Fail at the first place on the way where focus was lost, unseen or trapped, or where it stands so now."""
    for stop in focus["stops"]:
        assert not stop["isLost"], f"focus was lost after {before}"
        assert stop["isSeen"], f"nobody sees that focus stands on {stop['name']}"
        assert stop["hasMoved"], f"focus is trapped in {before}"
        before = stop["name"]
    assert len(focus["stops"]) == stops, f"focus left the page after {before}"
    assert not focus["isLost"], f"focus was lost after {before}"
    assert focus["isSeen"], f"nobody sees that focus stands on {focus['name']}"


@dataclass
class PersonAtTheKeyboard(Person):
    """Goes from one thing to the next by Tab, Shift-Tab and arrows; the mouse stays where it is."""

    def reach(self, target: Locator) -> None:
        """Go to something as a person would: past the menu, then forwards or backwards, one after the other."""
        expect(target).to_be_visible()
        focus = self.focus(target)
        if focus["isLost"]:
            # Playwright's own wait is code from a string, which the pages' policy refuses if it has to look twice.
            until(lambda: self.page.evaluate(HAS_SET_FOCUS), what="focus")
            focus = self.focus(target)
        if focus["isLost"] and target.evaluate(IS_BEHIND_A_MENU):
            self.skip_to_the_content()
            focus = self.focus(target)
        pressed = 0
        while focus["side"] != "here":
            assert pressed < MOST_TABS, f"{MOST_TABS} Tabs did not lead to {target}"
            for _ in range(focus["distance"]):
                self.page.keyboard.press(self.key_towards(focus))
            pressed += focus["distance"]
            before, expected = focus["name"], focus["distance"]
            focus = self.focus(target)
            complain_of(focus, before, expected)

    def key_towards(self, focus: dict[str, Any]) -> str:
        """Of several possibilities one is reached by Tab, the others by arrows."""
        if focus["isInGroup"]:
            return "ArrowDown" if focus["side"] == "after" else "ArrowUp"
        return "Tab" if focus["side"] == "after" else "Shift+Tab"

    def skip_to_the_content(self) -> None:
        """Use the first link of every page."""
        self.page.keyboard.press("Tab")
        skip = self.page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        until(lambda: self.focus(skip)["isSeen"], what="the link that skips to the content to be seen")
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("main")).to_be_focused()

    def focus(self, target: Locator) -> dict[str, Any]:
        """Where focus stands, seen from something else."""
        found: dict[str, Any] = target.evaluate(FOCUS)
        return found

    def activate(self, target: Locator) -> None:
        self.reach(target)
        self.page.keyboard.press("Enter")

    def set_box(self, box: Locator) -> None:
        self.reach(box)
        if not box.is_checked():
            self.page.keyboard.press("Space")

    def type_into(self, box: Locator, text: str) -> None:
        self.reach(box)
        if box.input_value():
            self.page.keyboard.press("ControlOrMeta+a")
        # What one key writes there the others do, too: the rest comes at once.
        self.page.keyboard.type(text[:1])
        self.page.keyboard.insert_text(text[1:])

    def select_in(self, box: Locator, option: str) -> None:
        self.reach(box)
        self.page.keyboard.type(option)

    def find(self, text: str, found: str) -> None:
        # The page names the key once it works.
        opener = self.page.get_by_role("banner").get_by_role("link", name="Find")
        expect(opener).to_have_attribute("aria-keyshortcuts", "Control+K Meta+K")
        self.page.keyboard.press("Control+k")
        self.clicks += 1
        box = self.page.get_by_role("combobox", name="What are you looking for?")
        expect(box).to_be_focused()
        assert self.focus(box)["isSeen"], "nobody sees that focus stands in the search"
        self.page.keyboard.type(text)
        self.fields += 1
        expect(self.page.locator(".find [aria-selected=true]")).to_contain_text(found)
        self.page.keyboard.press("Enter")
