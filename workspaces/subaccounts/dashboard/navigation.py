"""The dashboard's menu. Each app adds its entries in `AppConfig.ready()`, so that no lower app knows a higher one."""

from dataclasses import dataclass

from agency.console.navigation import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the menu: `url_name` takes no arguments, `icon` is a symbol of `console/icons.svg`."""

    url_name: str
    label: Words
    icon: str
    order: int


_entries: dict[str, Entry] = {}


def register_entry(entry: Entry) -> None:
    """Add a line to the menu; the same `url_name` again replaces it."""
    _entries[entry.url_name] = entry


def menu() -> list[Entry]:
    return sorted(_entries.values(), key=lambda entry: entry.order)
