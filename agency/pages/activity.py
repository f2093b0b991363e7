"""How the activity log reads: labels of actions, links to what was changed, details as text."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.models import ActivityEntry
from agency.pages.registry import StrOrPromise, activity_actions, activity_targets


def labelled_actions() -> list[tuple[str, StrOrPromise]]:
    """Give the actions that the log can be filtered by, in the order of their labels."""
    return sorted(((action.name, action.label) for action in activity_actions), key=lambda pair: str(pair[1]))


def action_label(action: str) -> StrOrPromise:
    known = activity_actions.get(action)
    return known.label if known else action.replace(".", " ").replace("_", " ").capitalize()


def target_url(entry: ActivityEntry) -> str:
    """Give the address of what the entry is about; empty where it has no page."""
    target = activity_targets.get(entry.target_kind)
    return reverse(target.url_name, args=[entry.target_id]) if target else ""


def details_of(entry: ActivityEntry) -> Iterator[tuple[str, str]]:
    """Give what the entry says beside its action, as pairs of a name and a text."""
    details: dict[str, Any] = entry.details
    if details.keys() == {"from", "to"}:
        yield _("change"), _as_text(details)
        return
    for name, value in details.items():
        if value not in ("", None):
            yield name.replace("_", " "), _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return f"{_as_text(value['from'])} → {_as_text(value['to'])}"
    if isinstance(value, dict):
        return str(value.get("name", ", ".join(value)))
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return _("none") if value in ("", None) else str(value)
