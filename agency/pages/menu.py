"""Menus as pages show them."""

from collections.abc import Iterable
from dataclasses import dataclass

from agency.pages.registry import MenuEntry, Section
from agency.pages.text import StrOrPromise


@dataclass(frozen=True, slots=True)
class MenuSection:
    label: StrOrPromise
    entries: list[MenuEntry]


def in_order(entries: Iterable[MenuEntry]) -> list[MenuEntry]:
    return sorted(entries, key=lambda entry: entry.order)


def in_sections(entries: Iterable[MenuEntry]) -> list[MenuSection]:
    """Give the sections that have entries, in order."""
    ordered = in_order(entries)
    sections = [MenuSection(part.label, [entry for entry in ordered if entry.section == part]) for part in Section]
    return [section for section in sections if section.entries]
