"""Menus as they are written: once for a page, which shows each twice, at its side and folded at its top."""

from collections.abc import Iterable

from django.template.loader import render_to_string

from agency.pages.registry import MenuEntry, in_sections


def written_menu(template: str, entries: Iterable[MenuEntry], nav: str) -> str:
    """Write a menu, with the entry `nav` as the current one."""
    return render_to_string(template, {"menu": in_sections(entries), "nav": nav})
