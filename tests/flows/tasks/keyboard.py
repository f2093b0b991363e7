"""Somebody who uses the keyboard alone, and complains as soon as focus cannot be seen, is lost or is trapped."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.flows.tasks.person import Person
from tests.waiting import until

FOCUS = Path(__file__).with_name("focus.js").read_text()
# Every page of a console or a dashboard has these.
EVERYWHERE = {"console", "find", "unread"}
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

    # The sides from which this person has already gone to the menu.
    ways_to_menu: set[str] = field(default_factory=set)

    def reach(self, target: Locator) -> None:
        """Go to something as a person would: past the menu, then forwards or backwards, one after the other."""
        expect(target).to_be_visible()
        focus = self.focus(target)
        if focus["isToCome"]:
            until(lambda: not self.focus(target)["isToCome"], what="focus")
            focus = self.focus(target)
        if focus["isLost"] and focus["isBehindMenu"]:
            self.skip_to_the_content()
            focus = self.focus(target)
        self.note_scripts(focus)
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

    def note_scripts(self, focus: dict[str, Any]) -> None:
        """Remember which scripts of its own this page has, and what only a script has shown or switched on."""
        self.scripts.update({*focus["scripts"]} - EVERYWHERE)
        if focus["isRevealed"]:
            self.scripts.add(f"what reveals {focus['target']}")

    def skip_to_the_content(self) -> None:
        """Use the first link of every page."""
        skip = self.page.locator("a.skip[href]", has_text="Skip to the content")
        self.page.keyboard.press("Tab")
        until(lambda: self.stands_on(skip), what="the link that skips to the content to be seen")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("main")).to_be_focused()

    def stands_on(self, link: Locator) -> bool:
        focus = self.focus(link)
        return bool(focus["side"] == "here" and focus["isSeen"])

    def focus(self, target: Locator) -> dict[str, Any]:
        """Where focus stands, seen from something else."""
        found: dict[str, Any] = target.evaluate(FOCUS)
        return found

    def open(self, name: str) -> None:
        """Choose a page from the menu, which is one on all pages: the way there is gone once from each side.

        The scripts of the page that is left are not noted, because the menu needs none of them.
        """
        met = set(self.scripts)
        link = self.link_of_menu(name)
        expect(link).to_be_visible()
        way = self.focus(link)["side"]
        if way in self.ways_to_menu:
            link.focus()
        self.ways_to_menu.add(way)
        self.press(link)
        self.scripts.intersection_update(met)

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
