"""The texts of the activity log: labels of actions, links to what was changed, details."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.models import ActivityEntry
from agency.pages.registry import StrOrPromise, activity_actions, activity_targets

# How many targets a line names.
MOST_NAMED = 2


def labelled(actions: Iterable[str]) -> list[tuple[str, StrOrPromise]]:
    """Return the actions that the log can be filtered by, ordered by label."""
    return sorted(((action, action_label(action)) for action in actions), key=lambda pair: str(pair[1]))


def labelled_actions() -> list[tuple[str, StrOrPromise]]:
    return labelled(action.name for action in activity_actions)


def action_label(action: str) -> StrOrPromise:
    known = activity_actions.get(action)
    return known.label if known else action.replace(".", " ").replace("_", " ").capitalize()


def actor_of(entry: ActivityEntry) -> str:
    """Name the actor, and the customer as whom an agency's person acted."""
    if not entry.acting_for:
        return entry.actor_label
    return _("%(person)s as %(customer)s") % {"person": entry.actor_label, "customer": entry.acting_for}


def target_url(entry: ActivityEntry) -> str:
    """Return the address of the page of what was changed; empty if it has no page."""
    target = activity_targets.get(entry.target_kind)
    return reverse(target.url_name, args=[entry.target_id]) if target else ""


def details_of(entry: ActivityEntry) -> Iterator[tuple[str, str]]:
    """Yield what the entry says besides its action and its changes, as pairs of a name and a text."""
    details: dict[str, Any] = entry.details
    if details.keys() == {"from", "to"}:
        yield _("change"), _as_text(details)
        return
    for name, value in details.items():
        if value not in ("", None) and not entry.changes.get(name):
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


@dataclass(slots=True)
class EntryGroup:
    """Consecutive entries of one action that read as one line: on one target, or by one person on several."""

    newest: ActivityEntry
    number: int = 1
    targets: dict[str, ActivityEntry] = field(default_factory=dict)
    changed_entries: list[ActivityEntry] = field(default_factory=list)

    @property
    def label(self) -> StrOrPromise:
        return action_label(self.newest.action)

    @property
    def shown_targets(self) -> list[ActivityEntry]:
        return list(self.targets.values())[:MOST_NAMED]

    @property
    def further_targets(self) -> int:
        return max(0, len(self.targets) - MOST_NAMED)

    @property
    def times(self) -> int:
        """How often the action was done to the only target; 1 if there are several."""
        return self.number if len(self.targets) == 1 else 1

    def takes(self, entry: ActivityEntry) -> bool:
        """Return whether the next entry belongs to this group: the same action, and the same target or person."""
        if entry.action != self.newest.action:
            return False
        return entry.target_id in self.targets or actor_of(entry) == actor_of(self.newest)

    def add(self, entry: ActivityEntry) -> None:
        self.targets.setdefault(entry.target_id, entry)
        if entry.changes and len(self.changed_entries) < MOST_NAMED:
            self.changed_entries.append(entry)


def grouped(entries: Iterable[ActivityEntry]) -> list[EntryGroup]:
    """Group consecutive entries, newest first, that belong together."""
    groups: list[EntryGroup] = []
    for entry in entries:
        if groups and groups[-1].takes(entry):
            groups[-1].number += 1
        else:
            groups.append(EntryGroup(entry))
        groups[-1].add(entry)
    return groups
