"""The console's menu. Each app adds its entries in `AppConfig.ready()`, so that no lower app knows a higher one."""

from dataclasses import dataclass
from itertools import groupby

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = str | Promise


class Section(TextChoices):
    """The menu's parts, from top to bottom."""

    MAIN = "main", ""
    CATALOGUE = "catalogue", _("Catalogue")
    CONFIGURATION = "configuration", _("Configuration")
    AGENCY = "agency", _("Agency")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the menu: `url_name` takes no arguments, `icon` is a symbol of `console/icons.svg`."""

    url_name: str
    label: Words
    icon: str
    section: Section
    order: int


@dataclass(frozen=True, slots=True)
class MenuSection:
    label: Words
    entries: list[Entry]


_entries: dict[str, Entry] = {}


def register_entry(entry: Entry) -> None:
    """Add a line to the menu; the same `url_name` again replaces it."""
    _entries[entry.url_name] = entry


def menu() -> list[MenuSection]:
    """Give the sections that have entries, in order."""
    sections = list(Section)
    ordered = sorted(_entries.values(), key=lambda entry: (sections.index(entry.section), entry.order))
    grouped = groupby(ordered, key=lambda entry: entry.section)
    return [MenuSection(section.label, list(entries)) for section, entries in grouped]
