"""Rendered menus: each page renders its menu once, and shows it twice, at its side and folded at its top."""

from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.translation import get_language

from agency.pages.registry import MenuEntry, in_sections
from config.hooks import Registry


def written_menu(template: str, entries: Registry[MenuEntry], nav: str) -> str:
    """Render a menu with the entry `nav` as the current one."""
    return menu_in_language(template, entries, nav, get_language())


@lru_cache(maxsize=1024)
def menu_in_language(template: str, entries: Registry[MenuEntry], nav: str, language: str | None) -> str:
    """Render a menu once for each language and process, as all its entries are there once the apps are loaded."""
    return render_to_string(template, {"menu": in_sections(entries), "nav": nav})
