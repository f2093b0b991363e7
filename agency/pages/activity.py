"""The texts of the activity log: labels of actions, links, changed values, and the filters of its lists."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db.models import Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.models.agencies import APIKey
from agency.pages.pagination import LARGEST_ID
from agency.pages.periods import PERIOD, beginning_of
from agency.pages.registry import ActivityDetail, StrOrPromise, activity_actions, activity_details, activity_targets
from agency.pages.tables import ChoiceGroup, Filter
from agency.services.activity import RecordedField, ValueFormat, recorded_actions
from config.api.requests import is_storable
from config.formats import format_day, format_day_time, format_number, format_zone

# How many targets a line names.
MOST_NAMED = 2


def grouped(actions: Iterable[str]) -> list[ChoiceGroup]:
    """Return the actions that the log can be filtered by, grouped by subject, each ordered by label."""
    found: dict[str, list[tuple[str, StrOrPromise]]] = {}
    for action in actions:
        known = activity_actions.get(action)
        subject = str(known.subject) if known else ""
        found.setdefault(subject or _("Other"), []).append((action, action_label(action)))
    return [ChoiceGroup(subject, sorted(found[subject], key=lambda pair: str(pair[1]))) for subject in sorted(found)]


def grouped_actions() -> list[ChoiceGroup]:
    return grouped(action.name for action in activity_actions)


# A list of people or keys to choose from is no longer than this; the address takes everybody else, too.
MOST_OFFERED: Final = 200


def actors(asked: str, label: str, people: Iterable[str], keys: "QuerySet[APIKey]") -> list[ChoiceGroup]:
    """Return whose changes the log can show: people under their label, API keys by name, and whoever is asked for."""
    emails = sorted(set(people))
    names = sorted(set(keys.order_by("-id").values_list("name", flat=True)[:MOST_OFFERED]))
    groups = [(label, emails), (_("API keys"), names)]
    shown = [ChoiceGroup(name, [(one, one) for one in found]) for name, found in groups if found]
    is_offered = not asked or asked in emails or asked in names
    return shown if is_offered else [ChoiceGroup("", [(asked, asked)]), *shown]


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
    """Yield what the entry says besides its action and its changes, as pairs of a label and a text."""
    details: dict[str, object] = entry.details
    if details.keys() == {"from", "to"}:
        yield capfirst(_("change")), _as_text(details)
        return
    for name, value in details.items():
        if value in ("", None) or entry.changes.get(name):
            continue
        detail = _declared(entry.action, name)
        if detail.label:
            yield capfirst(str(detail.label)), _as_text(value, detail)


def _declared(action: str, name: str) -> ActivityDetail:
    """Return how a detail is shown: as declared, or like the field of its name; an unknown one is shown by its name."""
    if own := activity_details.get(f"{action.partition('.')[0]}.{name}"):
        return own
    known = recorded_actions.get(action)
    if known and (field := known.field(name)):
        return ActivityDetail(name, field.label, field.choices)
    return activity_details.get(name) or ActivityDetail(name, name.replace("_", " "))


def _as_text(value: object, detail: ActivityDetail | None = None) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return format_number(value)
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return f"{_as_text(value['from'], detail)} → {_as_text(value['to'], detail)}"
    if isinstance(value, dict):
        return str(value.get("name", ", ".join(value)))
    if isinstance(value, list):
        return ", ".join(_as_text(one, detail) for one in value)
    return _("none") if value in ("", None) else _worded(str(value), detail)


def _worded(text: str, detail: ActivityDetail | None) -> str:
    """Write a value by its label, as the message that it is, or by the reader's clock; any other as it is."""
    for known, label in detail.choices if detail else ():
        if known == text:
            return str(label)
    return _(text) if detail and detail.are_messages else _moment_or(text)


# As `isoformat` writes a moment; the log keeps moments as texts.
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d:\d\d")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def _moment_or(text: str) -> str:
    """Write a moment by the reader's clock, a day in the reader's way, and any other text as it is."""
    try:
        if _DAY.fullmatch(text):
            return format_day(date.fromisoformat(text))
        return _moment(text) if _MOMENT.fullmatch(text) else text
    except (ValueError, OverflowError):
        return text


def _moment(written: str) -> str:
    moment = timezone.localtime(datetime.fromisoformat(written))
    return f"{format_day_time(moment)} {format_zone(moment)}"


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


def group_entries(entries: Iterable[ActivityEntry]) -> list[EntryGroup]:
    """Group consecutive entries, newest first, that belong together."""
    groups: list[EntryGroup] = []
    for entry in entries:
        if groups and groups[-1].takes(entry):
            groups[-1].number += 1
        else:
            groups.append(EntryGroup(entry))
        groups[-1].add(entry)
    return groups


NOTHING: Final = "—"


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A row of the table of changes; without values if only the fact of a change is known."""

    label: str
    before: str = ""
    after: str = ""
    has_values: bool = True


def changes_of(entry: ActivityEntry) -> list[ShownChange]:
    """Return all changes of an entry, in the order in which the fields are declared."""
    return changes_under(entry.action, entry.changes)


def changes_for_customers(entry: ActivityEntry) -> list[ShownChange]:
    """Return the changes that the workspace's own people may read, without the fields for the agency alone."""
    return changes_under(entry.action, entry.changes, for_customers=True)


def changes_under(action: str, changes: Mapping[str, object], *, for_customers: bool = False) -> list[ShownChange]:
    """Return the changes recorded under an action; a field that is no longer declared is shown by its name."""
    return list(_shown(action, changes, for_customers)) if changes else []


def _shown(action: str, changes: Mapping[str, object], for_customers: bool) -> Iterator[ShownChange]:
    known = recorded_actions.get(action)
    fields = known.fields if known else ()
    for recorded in fields:
        if recorded.name in changes and not (for_customers and recorded.agency_only):
            yield _change(recorded, changes[recorded.name])
    if not for_customers:
        declared = {recorded.name for recorded in fields}
        for name in sorted(changes.keys() - declared):
            yield ShownChange(capfirst(name.replace("_", " ")), has_values=False)


def _change(field: RecordedField, pair: object) -> ShownChange:
    label = capfirst(str(field.label))
    if field.hidden or not isinstance(pair, list):
        return ShownChange(label, has_values=False)
    before, after = (_written(field, value) for value in pair)
    return ShownChange(label, before, after)


def _written(field: RecordedField, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_written(field, one) for one in value) or NOTHING
    if field.shown is ValueFormat.LIMIT and not isinstance(value, str):
        return _("No limit") if value is None else format_number(value)
    if value in ("", None):
        return NOTHING
    for known, label in field.choices:
        if known == value:
            return str(label)
    return _by_kind(field.shown, value)


def _by_kind(shown: ValueFormat, value: object) -> str:
    if isinstance(value, bool):
        return _("On") if value else _("Off")
    if shown is ValueFormat.NUMBER and isinstance(value, int):
        return format_number(value)
    if shown is ValueFormat.MOMENT and isinstance(value, str):
        return _moment(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class ActorFilter:
    """A kind of access by which people and programs make changes, with the condition for its entries."""

    name: str
    label: StrOrPromise
    entries: Q


# More than the clocks of an installation's machines ever differ.
SKEW: Final = timedelta(hours=1)
_FIELDS: Final = {"action": "action", "person": "actor_label", "object": "target_id"}


def filters_by(doors: Sequence[ActorFilter]) -> tuple[Filter, ...]:
    """Return the filters of a list of activity; the actions and people to choose from are given when it is read.

    Days are in UTC, so that an address shows everybody the same, and an export holds what its page showed.
    """
    return (
        Filter(name="action", label=gettext_lazy("Action"), is_choice=True),
        Filter(
            name="door", label=gettext_lazy("Source"), is_choice=True, choices=[(one.name, one.label) for one in doors]
        ),
        Filter(name="person", label=gettext_lazy("By"), is_choice=True),
        Filter(name="object", label=gettext_lazy("ID of the changed item")),
        PERIOD,
        Filter(name="from", label=gettext_lazy("From day (UTC)"), is_date=True),
        Filter(name="to", label=gettext_lazy("To day (UTC)"), is_date=True),
    )


def filter_entries(
    entries: "QuerySet[ActivityEntry]", asked: Mapping[str, str], doors: Sequence[ActorFilter], *, now: datetime
) -> "QuerySet[ActivityEntry]":
    """Return the entries that match all filters; a value that no entry can have matches none. A period ends now."""
    wanted: dict[str, str] = {field: asked[name] for name, field in _FIELDS.items() if asked.get(name)}
    door = {one.name: one.entries for one in doors}.get(asked["door"]) if asked.get("door") else Q()
    if door is None or not all(is_storable(value) for value in wanted.values()):
        return entries.none()
    try:
        return entries.filter(door, **wanted, **_times(entries, asked, now))
    except (ValueError, OverflowError):
        return entries.none()


def _times(entries: "QuerySet[ActivityEntry]", asked: Mapping[str, str], now: datetime) -> dict[str, object]:
    """Return the bounds of time and id, both days included. Raises `ValueError` or `OverflowError` for invalid values.

    Ids rise with time. The index of times gives the ids between which the days lie. Without them the list, which is
    ordered by id, would be read from its newest entry down to those days.
    """
    bounds: dict[str, object] = {}
    begins = [_midnight(date.fromisoformat(first))] if (first := asked.get("from")) else []
    begins += [beginning_of(period, now)] if (period := asked.get("period")) else []
    if begins:
        begin = bounds["at__gte"] = max(begins)
        earlier = entries.filter(at__lt=begin - SKEW).order_by("-at").values("pk")[:1]
        bounds["pk__gte"] = Coalesce(Subquery(earlier), 0)
    if last := asked.get("to"):
        end = bounds["at__lt"] = _midnight(date.fromisoformat(last) + timedelta(days=1))
        later = entries.filter(at__gt=end + SKEW).order_by("at").values("pk")[:1]
        bounds["pk__lte"] = Coalesce(Subquery(later), LARGEST_ID)
    return bounds


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
