"""Menus as they are written: once for a page, which shows each twice, at its side and folded at its top."""

from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.translation import get_language

from agency.pages.registry import MenuEntry, in_sections
from config.hooks import Registry


def written_menu(template: str, entries: Registry[MenuEntry], nav: str) -> str:
    """Write a menu, with the entry `nav` as the current one."""
    return menu_in_language(template, entries, nav, get_language())


@lru_cache(maxsize=1024)
def menu_in_language(template: str, entries: Registry[MenuEntry], nav: str, language: str | None) -> str:
    """Write a menu once in each language of a process: its entries are all there since the apps were loaded."""
    return render_to_string(template, {"menu": in_sections(entries), "nav": nav})
