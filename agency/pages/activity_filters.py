"""Filters of lists of activity, in the console, in its export and in the dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db.models import Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from agency.models import ActivityEntry
from agency.pages.lists import LARGEST_ID
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Filter
from config.api.requests import is_storable


@dataclass(frozen=True, slots=True)
class Door:
    """A kind of access by which people and programs make changes, with the condition for its entries."""

    name: str
    label: StrOrPromise
    entries: Q


# More than the clocks of an installation's machines ever differ.
SKEW: Final = timedelta(hours=1)
_FIELDS: Final = {"action": "action", "person": "actor_label", "object": "target_id"}


def filters_by(doors: Sequence[Door]) -> tuple[Filter, ...]:
    """Return the filters of a list of activity; the actions to choose from are given when the list is read.

    Days are in UTC, so that an address shows everybody the same, and an export holds what its page showed.
    """
    return (
        Filter(name="action", label=_("Action"), is_choice=True),
        Filter(name="door", label=_("Through"), is_choice=True, choices=[(one.name, one.label) for one in doors]),
        Filter(name="person", label=_("By exactly"), placeholder=_("E-mail address or name of the key")),
        Filter(name="object", label=_("Id of what was changed")),
        Filter(name="from", label=_("From day (UTC)"), is_date=True),
        Filter(name="to", label=_("To day (UTC)"), is_date=True),
    )


def narrowed(
    entries: "QuerySet[ActivityEntry]", asked: Mapping[str, str], doors: Sequence[Door]
) -> "QuerySet[ActivityEntry]":
    """Return the entries that match all filters; a value that no entry can have matches none."""
    wanted: dict[str, Any] = {field: asked[name] for name, field in _FIELDS.items() if asked.get(name)}
    door = {one.name: one.entries for one in doors}.get(asked["door"]) if asked.get("door") else Q()
    if door is None or not all(is_storable(value) for value in wanted.values()):
        return entries.none()
    try:
        return entries.filter(door, **wanted, **_days(entries, asked))
    except (ValueError, OverflowError):
        return entries.none()


def _days(entries: "QuerySet[ActivityEntry]", asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the bounds of time and id, both days included. Raises `ValueError` or `OverflowError` for an invalid day.

    Ids rise with time. The index of times gives the ids between which the days lie. Without them the list, which is
    ordered by id, would be read from its newest entry down to those days.
    """
    bounds: dict[str, Any] = {}
    if first := asked.get("from"):
        begin = bounds["at__gte"] = _midnight(date.fromisoformat(first))
        earlier = entries.filter(at__lt=begin - SKEW).order_by("-at").values("pk")[:1]
        bounds["pk__gte"] = Coalesce(Subquery(earlier), 0)
    if last := asked.get("to"):
        end = bounds["at__lt"] = _midnight(date.fromisoformat(last) + timedelta(days=1))
        later = entries.filter(at__gt=end + SKEW).order_by("at").values("pk")[:1]
        bounds["pk__lte"] = Coalesce(Subquery(later), LARGEST_ID)
    return bounds


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
