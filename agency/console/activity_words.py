"""How the activity log reads: words for actions, links to what was changed. Each app adds its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.console.navigation import Words
from agency.models import ActivityEntry

_actions: dict[str, Words] = {}
_pages: dict[str, str] = {}


def register_actions(words: Mapping[str, Words]) -> None:
    """Name actions (`workspace.suspended`) for people; the log can be filtered by the named ones."""
    _actions.update(words)


def register_page(target_kind: str, url_name: str) -> None:
    """Lead entries about this kind of thing to its page, whose address takes the thing's public id."""
    _pages[target_kind] = url_name


def known_actions() -> list[tuple[str, Words]]:
    return sorted(_actions.items(), key=lambda pair: str(pair[1]))


def action_words(action: str) -> Words:
    return _actions.get(action) or action.replace(".", " ").replace("_", " ").capitalize()


def page_of(entry: ActivityEntry) -> str:
    """Give the address of what the entry is about; empty where it has no page."""
    url_name = _pages.get(entry.target_kind)
    return reverse(url_name, args=[entry.target_id]) if url_name else ""


def details_of(entry: ActivityEntry) -> Iterator[tuple[str, str]]:
    """Give what the entry tells beside its action, as pairs of a name and a text."""
    details: dict[str, Any] = entry.details
    if details.keys() == {"from", "to"}:
        yield _("change"), _spelled(details)
        return
    for name, value in details.items():
        if value not in ("", None):
            yield name.replace("_", " "), _spelled(value)


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return f"{_spelled(value['from'])} → {_spelled(value['to'])}"
    if isinstance(value, dict):
        return str(value.get("name", ", ".join(value)))
    if isinstance(value, list):
        return ", ".join(map(_spelled, value))
    return _("none") if value in ("", None) else str(value)
