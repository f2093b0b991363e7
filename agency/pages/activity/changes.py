"""What an entry of the activity log changed, before and after, as readable text."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.template.defaultfilters import date as format_date
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from agency.models import ActivityEntry
from agency.services.activity.fields import RecordedField, Shown, recorded_actions

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


def changes_under(action: str, changes: dict[str, Any], *, for_customers: bool = False) -> list[ShownChange]:
    """Return the changes recorded under an action; a field that is no longer declared is shown by its name."""
    return list(_shown(action, changes, for_customers)) if changes else []


def _shown(action: str, changes: dict[str, Any], for_customers: bool) -> Iterator[ShownChange]:
    known = recorded_actions.get(action)
    fields = known.fields if known else ()
    for field in fields:
        if field.name in changes and not (for_customers and field.agency_only):
            yield _change(field, changes[field.name])
    if not for_customers:
        declared = {field.name for field in fields}
        for name in sorted(changes.keys() - declared):
            yield ShownChange(capfirst(name.replace("_", " ")), has_values=False)


def _change(field: RecordedField, pair: Any) -> ShownChange:
    label = capfirst(str(field.label))
    if field.hidden or not isinstance(pair, list):
        return ShownChange(label, has_values=False)
    before, after = (_written(field, value) for value in pair)
    return ShownChange(label, before, after)


def _written(field: RecordedField, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_written(field, one) for one in value) or NOTHING
    if field.shown is Shown.LIMIT and not isinstance(value, str):
        return _("No limit") if value is None else _number(value)
    if value in ("", None):
        return NOTHING
    for known, label in field.choices:
        if known == value:
            return str(label)
    return _by_kind(field.shown, value)


def _by_kind(shown: Shown, value: Any) -> str:
    if isinstance(value, bool):
        return _("On") if value else _("Off")
    if shown is Shown.NUMBER and isinstance(value, int):
        return _number(value)
    if shown is Shown.MOMENT and isinstance(value, str):
        return format_date(timezone.localtime(datetime.fromisoformat(value)), "j M Y, H:i T")
    return str(value)


def _number(value: int) -> str:
    return number_format(value, use_l10n=True, force_grouping=True)
