"""Checks a segment's filter and turns it into one condition, for a queryset or for counting."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from enum import IntEnum
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils.dateparse import parse_datetime

from agency.limits import CHANNEL_TYPES
from config.api.fields import NO_TIME, OUT_OF_RANGE, DateTimeOutOfRange, parse_aware_datetime
from config.db import name_key
from config.errors import InvalidInput
from workspaces.contacts.services.fields.values import (
    ValueRefused,
    checked_attributes,
    checked_country,
    checked_tags,
    checked_timezone,
)


class FilterRefused(InvalidInput):
    """A filter has an unknown condition or a value that cannot be read."""

    field = "filter"


def _tags(name: str) -> Callable[[Any], list[str]]:
    def check(value: Any) -> list[str]:
        return checked_tags(value, name=name)

    return check


def _platform(value: Any) -> str:
    if not isinstance(value, str) or value not in CHANNEL_TYPES:
        names = ", ".join(CHANNEL_TYPES)
        raise ValueRefused(f"The has channel field must be one of: {names}.", field="has_channel")
    return value


def _time(name: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        try:
            found = parse_aware_datetime(value)
        except DateTimeOutOfRange as error:
            raise ValueRefused(f"The time {OUT_OF_RANGE}", field=name) from error
        if found is None:
            words = name.replace("_", " ")
            raise ValueRefused(f"The {words} field {NO_TIME}", field=name)
        return found.astimezone(UTC).isoformat().replace("+00:00", "Z")

    return check


CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "tags_any": _tags("tags_any"),
    "tags_all": _tags("tags_all"),
    "tags_none": _tags("tags_none"),
    "country": checked_country,
    "timezone": checked_timezone,
    "has_channel": _platform,
    "attributes": checked_attributes,
    "created_after": _time("created_after"),
    "created_before": _time("created_before"),
}


def checked_filter(given: Any) -> dict[str, Any]:
    """Return the filter's non-empty conditions, each in the form in which it is stored.

    Raises `FilterRefused` with every error, by its dotted name.
    """
    if not isinstance(given, Mapping):
        raise FilterRefused("The filter field must be an object.")
    errors: dict[str, list[str]] = {}
    kept: dict[str, Any] = {}
    for name, value in given.items():
        try:
            if name not in CHECKS:
                raise ValueRefused(f"A filter has no condition {_shown(name)}.", field=name)
            if value is not None and (checked := CHECKS[name](value)):
                kept[name] = checked
        except ValueRefused as refused:
            errors |= {f"filter.{_shown(field)}": messages for field, messages in refused.errors.items()}
    if errors:
        refusal = FilterRefused(next(iter(errors.values()))[0])
        refusal.errors = errors
        raise refusal
    return {name: kept[name] for name in CHECKS if name in kept}


def _shown(name: str) -> str:
    return name[:60].encode(errors="replace").decode()


def _keys(tags: list[str]) -> list[str]:
    return [name_key(tag) for tag in tags]


CONDITIONS: Mapping[str, Callable[[Any], Q]] = {
    "tags_any": lambda tags: Q(tag_keys__overlap=_keys(tags)),
    "tags_all": lambda tags: Q(tag_keys__contains=_keys(tags)),
    "tags_none": lambda tags: ~Q(tag_keys__overlap=_keys(tags)),
    "country": lambda country: Q(country=country),
    "timezone": lambda timezone: Q(timezone=timezone),
    "has_channel": lambda platform: Q(platforms__contains=[platform]),
    "attributes": lambda attributes: Q(attributes__contains=attributes),
    "created_after": lambda time: Q(created_at__gte=parse_datetime(time)),
    "created_before": lambda time: Q(created_at__lt=parse_datetime(time)),
}

# `ContactFacetCount` gives the size of any combination of these conditions without reading contacts.
FACETS = frozenset({"tags_any", "tags_all", "tags_none", "country", "timezone", "has_channel"})


def has_only_facets(filter: Mapping[str, Any]) -> bool:
    """Return whether a checked filter has only conditions that `ContactFacetCount` can count."""
    return FACETS.issuperset(filter)


class FactKind(IntEnum):
    """The kinds of facts, numbered as in the database function `contacts_facts`."""

    COUNTRY = 1
    TIMEZONE = 2
    TAG = 3
    PLATFORM = 4
    ATTRIBUTE = 5


class Counted(NamedTuple):
    """An SQL condition that the index `contact_newest` can answer, and its parameters."""

    sql: str
    values: list[Any]


def _fact(kind: FactKind, value: str, name: str = "") -> Counted:
    return Counted("contacts_fact(%s, %s, %s) = ANY (contact.facts)", [kind.value, name, value])


def _joined(word: str, conditions: Iterable[Counted]) -> Counted:
    some = list(conditions)
    return Counted(f"({f' {word} '.join(one.sql for one in some)})", [value for one in some for value in one.values])


def _tag_facts(word: str, tags: list[str]) -> Counted:
    return _joined(word, (_fact(FactKind.TAG, key) for key in _keys(tags)))


def _not(condition: Counted) -> Counted:
    return Counted(f"NOT {condition.sql}", condition.values)


# The same conditions over the index's columns: the time of creation and the facts as numbers.
COUNTED: Mapping[str, Callable[[Any], Counted]] = {
    "tags_any": lambda tags: _tag_facts("OR", tags),
    "tags_all": lambda tags: _tag_facts("AND", tags),
    "tags_none": lambda tags: _not(_tag_facts("OR", tags)),
    "country": lambda country: _fact(FactKind.COUNTRY, country),
    "timezone": lambda timezone: _fact(FactKind.TIMEZONE, timezone),
    "has_channel": lambda platform: _fact(FactKind.PLATFORM, platform),
    "attributes": lambda texts: _joined("AND", (_fact(FactKind.ATTRIBUTE, text, name) for name, text in texts.items())),
    "created_after": lambda time: Counted("contact.created_at >= %s", [parse_datetime(time)]),
    "created_before": lambda time: Counted("contact.created_at < %s", [parse_datetime(time)]),
}


def counted_condition(filter: Mapping[str, Any]) -> Counted:
    """Return a checked filter as one SQL condition for counting."""
    return _joined("AND", [Counted("true", []), *(COUNTED[name](value) for name, value in filter.items())])


def condition_of(filter: Mapping[str, Any]) -> Q:
    """Return a checked filter as one `Q`. An empty filter matches every contact of the workspace."""
    condition = Q()
    for name, value in filter.items():
        condition &= CONDITIONS[name](value)
    return condition
