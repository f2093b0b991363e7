"""Creates, changes and removes segments, checks their filters and turns these into conditions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypedDict, Unpack

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from agency.actors import Actor
from agency.limits import CHANNEL_TYPES
from agency.services.activity import from_differences
from config.api.fields import NO_TIME, OUT_OF_RANGE, DateTimeOutOfRange, parse_aware_datetime
from config.db import name_key, violated_constraint
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.models.contacts import LONGEST_SEGMENT_NAME, MOST_SEGMENTS
from workspaces.contacts.services import events
from workspaces.contacts.services.fields import (
    ValueRefused,
    checked_attributes,
    checked_country,
    checked_tags,
    checked_text,
    checked_timezone,
)
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity, record_workspace_event


class FilterRefused(InvalidInput):
    """A filter has an unknown condition or a value that cannot be read."""

    field = "filter"


def _tags(name: str) -> Callable[[object], list[str]]:
    def check(value: object) -> list[str]:
        return checked_tags(value, name=name)

    return check


def _platform(value: object) -> str:
    if not isinstance(value, str) or value not in CHANNEL_TYPES:
        names = ", ".join(CHANNEL_TYPES)
        raise ValueRefused(f"The has channel field must be one of: {names}.", field="has_channel")
    return value


def _time(name: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        try:
            found = parse_aware_datetime(value)
        except DateTimeOutOfRange as error:
            raise ValueRefused(f"The time {OUT_OF_RANGE}", field=name) from error
        if found is None:
            words = name.replace("_", " ")
            raise ValueRefused(f"The {words} field {NO_TIME}", field=name)
        return found.astimezone(UTC).isoformat().replace("+00:00", "Z")

    return check


CHECKS: Mapping[str, Callable[[object], object]] = {
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


def checked_filter(given: object) -> dict[str, object]:
    """Return the filter's non-empty conditions, each in the form in which it is stored.

    Raises `FilterRefused` with every error, by its dotted name.
    """
    if not isinstance(given, Mapping):
        raise FilterRefused("The filter field must be an object.")
    errors: dict[str, list[str]] = {}
    kept: dict[str, object] = {}
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


Q_CONDITIONS: Mapping[str, Callable[[Any], Q]] = {
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

TAG_CONDITIONS: Final = ("tags_any", "tags_all", "tags_none")

# `ContactFacetCount` gives the size of any combination of these conditions without reading contacts.
FACETS = frozenset({"tags_any", "tags_all", "tags_none", "country", "timezone", "has_channel"})


def has_only_facets(filter: Mapping[str, object]) -> bool:
    """Return whether a checked filter has only conditions that `ContactFacetCount` can count."""
    return FACETS.issuperset(filter)


class FactKind(IntEnum):
    """The kinds of facts, numbered as in the database function `contacts_facts`."""

    COUNTRY = 1
    TIMEZONE = 2
    TAG = 3
    PLATFORM = 4
    ATTRIBUTE = 5


class SqlCondition(NamedTuple):
    """An SQL condition that the index `contact_newest` can answer, and its parameters."""

    sql: str
    values: list[str | int | datetime | None]


def _fact(kind: FactKind, value: str, name: str = "") -> SqlCondition:
    return SqlCondition("contacts_fact(%s, %s, %s) = ANY (contact.facts)", [kind.value, name, value])


def _joined(word: str, conditions: Iterable[SqlCondition]) -> SqlCondition:
    some = list(conditions)
    return SqlCondition(
        f"({f' {word} '.join(one.sql for one in some)})", [value for one in some for value in one.values]
    )


def _tag_facts(word: str, tags: list[str]) -> SqlCondition:
    return _joined(word, (_fact(FactKind.TAG, key) for key in _keys(tags)))


def _not(condition: SqlCondition) -> SqlCondition:
    return SqlCondition(f"NOT {condition.sql}", condition.values)


# The same conditions over the index's columns: the time of creation and the facts as numbers.
SQL_CONDITIONS: Mapping[str, Callable[[Any], SqlCondition]] = {
    "tags_any": lambda tags: _tag_facts("OR", tags),
    "tags_all": lambda tags: _tag_facts("AND", tags),
    "tags_none": lambda tags: _not(_tag_facts("OR", tags)),
    "country": lambda country: _fact(FactKind.COUNTRY, country),
    "timezone": lambda timezone: _fact(FactKind.TIMEZONE, timezone),
    "has_channel": lambda platform: _fact(FactKind.PLATFORM, platform),
    "attributes": lambda texts: _joined("AND", (_fact(FactKind.ATTRIBUTE, text, name) for name, text in texts.items())),
    "created_after": lambda time: SqlCondition("contact.created_at >= %s", [parse_datetime(time)]),
    "created_before": lambda time: SqlCondition("contact.created_at < %s", [parse_datetime(time)]),
}


def filter_to_sql(filter: Mapping[str, object]) -> SqlCondition:
    """Return a checked filter as one SQL condition for counting."""
    return _joined("AND", [SqlCondition("true", []), *(SQL_CONDITIONS[name](value) for name, value in filter.items())])


def filter_to_q(filter: Mapping[str, object]) -> Q:
    """Return a checked filter as one `Q`. An empty filter matches every contact of the workspace."""
    condition = Q()
    for name, value in filter.items():
        condition &= Q_CONDITIONS[name](value)
    return condition


class SegmentNotFound(NotFound):
    message = "Segment not found."


class SegmentNameTaken(InvalidInput):
    field = "name"
    message = "Another segment has this name."


class SegmentNameMissing(InvalidInput):
    field = "name"
    message = "The name field is required."


class SegmentLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_SEGMENTS} segments."


class SegmentInUse(Conflict):
    """The segment is still needed. The message names what needs it."""

    message = "This segment is in use."


@dataclass(frozen=True, slots=True)
class SegmentUse:
    """A kind of thing that may need segments. `find` returns a readable name of one that needs the segment, or None."""

    name: str
    find: Callable[[Segment], str | None]


segment_uses = Registry[SegmentUse](
    "uses of segments",
    called="`remove_segment` calls each in the order of the apps, under the segment's lock, until one names an object",
    transaction="the caller's",
    failure="rolls the caller back",
)


class SegmentChanges(TypedDict, total=False):
    """The fields that may be changed. A filter is replaced as a whole."""

    name: str
    filter: Mapping[str, object]


@transaction.atomic
def create_segment(*, workspace: Workspace, name: str, filter: Mapping[str, Any], now: datetime, by: Actor) -> Segment:
    """Save a filter under a name.

    Raises `FilterRefused`, `SegmentNameTaken`, `SegmentLimitReached`.
    """
    segment = Segment(workspace=workspace, filter=checked_filter(filter), created_at=now, updated_at=now)
    _name(segment, name)
    lock_workspace(workspace)
    if Segment.objects.of(workspace).count() >= MOST_SEGMENTS:
        raise SegmentLimitReached
    _save(segment, force_insert=True)
    _record_change(segment, events.SEGMENT_CREATED, by=by, now=now)
    return segment


@transaction.atomic
def update_segment(*, segment: Segment, now: datetime, by: Actor, **changes: Unpack[SegmentChanges]) -> Segment:
    """Rename a segment or replace its filter. Without a real change nothing is recorded."""
    segment = lock_segment(segment)
    before = {"name": segment.name, "filter": segment.filter}
    if "name" in changes:
        _name(segment, changes["name"])
    if "filter" in changes:
        segment.filter = checked_filter(changes["filter"])
    changed = differences(before, {"name": segment.name, "filter": segment.filter})
    if changed:
        segment.updated_at = now
        if "filter" in changed:
            segment.counted_size = segment.counted_at = segment.recount_asked_at = None
        _save(segment)
        _record_change(segment, events.SEGMENT_UPDATED, by=by, now=now, changes=changed)
    return segment


@transaction.atomic
def remove_segment(*, segment: Segment, now: datetime, by: Actor) -> None:
    """Remove a segment but not its contacts. Raises `SegmentInUse` while something needs the segment."""
    segment = lock_segment(segment)
    for use in segment_uses:
        needed_by = use.find(segment)
        if needed_by:
            raise SegmentInUse(f"This segment is needed by {needed_by}.")
    _record_change(segment, events.SEGMENT_DELETED, by=by, now=now)
    segment.delete()


def segment_contacts(segment: Segment) -> "QuerySet[Contact]":
    """Return the contacts that a segment's filter finds now."""
    return Contact.objects.of(segment.workspace).filter(filter_to_q(segment.filter))


def lock_segment(segment: Segment) -> Segment:
    """Re-read a segment and lock its row. Raises `SegmentNotFound`."""
    rows = Segment.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    found = rows.filter(pk=segment.pk).first()
    if found is None:
        raise SegmentNotFound
    return found


def _name(segment: Segment, name: str) -> None:
    segment.name = checked_text("name", name, longest=LONGEST_SEGMENT_NAME)
    segment.name_key = name_key(segment.name)
    if not segment.name_key:
        raise SegmentNameMissing


def _save(segment: Segment, *, force_insert: bool = False) -> None:
    try:
        segment.save(force_insert=force_insert)
    except IntegrityError as error:
        if violated_constraint(error) == "segment_name_once_per_workspace":
            raise SegmentNameTaken from error
        raise


def _record_change(
    segment: Segment, event: str, *, by: Actor, now: datetime, **more: Mapping[str, Mapping[str, object]]
) -> None:
    workspace = segment.workspace
    details = {"segment": str(segment.uuid), "name": segment.name}
    changes = from_differences(more.get("changes", {}))
    record_workspace_activity(workspace=workspace, action=event, by=by, details=details, changes=changes)
    record_workspace_event(workspace=workspace, name=event, now=now, segment=segment, **more)


# Suggestions for the values of conditions ----------------------------------------------------------


MOST_TAGS_SUGGESTED: Final = 100
# Each step reads one row of the index, so the work does not grow with the number of contacts.
KNOWN_TAGS: Final = """
WITH RECURSIVE known AS (
    (SELECT tag_key, contact_id, 1 AS number FROM contacts_contacttag
        WHERE workspace_id = %(workspace)s ORDER BY tag_key, created_at, contact_id LIMIT 1)
    UNION ALL
    SELECT following.tag_key, following.contact_id, known.number + 1 FROM known CROSS JOIN LATERAL (
        SELECT tag_key, contact_id FROM contacts_contacttag
        WHERE workspace_id = %(workspace)s AND tag_key > known.tag_key ORDER BY tag_key, created_at, contact_id LIMIT 1
    ) AS following WHERE known.number < %(most)s
)
SELECT known.tag_key, contact.tags FROM known JOIN contacts_contact AS contact ON contact.id = known.contact_id
ORDER BY known.tag_key
"""
# Each tag is looked up in the index, so neither does this grow.
UNKNOWN_TAGS: Final = """
SELECT given.tag_key FROM unnest(%s::text[]) WITH ORDINALITY AS given (tag_key, number) WHERE NOT EXISTS (
    SELECT FROM contacts_contacttag AS known WHERE known.workspace_id = %s AND known.tag_key = given.tag_key)
ORDER BY given.number
"""
CONTACTS_READ: Final = 300
MOST_DETAILS_SUGGESTED: Final = 200
LONGEST_SUGGESTED: Final = 60
# Only the details of the newest contacts are read.
KNOWN_DETAILS: Final = """
SELECT held.name, held.value FROM (
    SELECT attributes FROM contacts_contact WHERE workspace_id = %s ORDER BY created_at DESC, id DESC LIMIT %s
) AS newest CROSS JOIN LATERAL jsonb_each_text(newest.attributes) AS held (name, value)
WHERE length(held.value) BETWEEN 1 AND %s
GROUP BY held.name, held.value ORDER BY count(*) DESC, held.name, held.value LIMIT %s
"""


def known_tags(workspace: Workspace) -> list[str]:
    """Return up to 100 tags of the workspace's contacts in the order of the alphabet, each as a contact has it."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_TAGS, {"workspace": workspace.pk, "most": MOST_TAGS_SUGGESTED})
        found: list[tuple[str, list[str]]] = cursor.fetchall()
    return [next((tag for tag in tags if name_key(tag) == key), key) for key, tags in found]


def unknown_tags(workspace: Workspace, filter: Mapping[str, Any]) -> list[str]:
    """Return the tags of a checked filter that no contact has, in the order of the filter."""
    asked: dict[str, str] = {}
    for tag in (tag for name in TAG_CONDITIONS for tag in filter.get(name, [])):
        asked.setdefault(name_key(tag), tag)
    if not asked:
        return []
    with connection.cursor() as cursor:
        cursor.execute(UNKNOWN_TAGS, [list(asked), workspace.pk])
        return [asked[key] for (key,) in cursor.fetchall()]


def known_details(workspace: Workspace) -> Mapping[str, list[str]]:
    """Return the names of the newest contacts' details, each with its short values. The most frequent come first."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_DETAILS, [workspace.pk, CONTACTS_READ, LONGEST_SUGGESTED, MOST_DETAILS_SUGGESTED])
        found: dict[str, list[str]] = {}
        for name, value in cursor.fetchall():
            found.setdefault(name, []).append(value)
    return found
