"""Create, change and remove segments, and find their contacts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services.activity import from_differences
from config.db import name_key, violated_constraint
from config.errors import Conflict, Forbidden, InvalidInput
from config.hooks import Registry
from workspaces.contacts import events
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.models.segments import LONGEST_SEGMENT_NAME, MOST_SEGMENTS
from workspaces.contacts.services.conditions import checked_filter, condition_of
from workspaces.contacts.services.errors import SegmentNotFound
from workspaces.contacts.services.fields.values import checked_text
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity, record_workspace_event


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
    filter: Mapping[str, Any]


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
    _leave_traces(segment, events.SEGMENT_CREATED, by=by, now=now)
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
    told = differences(before, {"name": segment.name, "filter": segment.filter})
    if told:
        segment.updated_at = now
        if "filter" in told:
            segment.counted_size = segment.counted_at = segment.recount_asked_at = None
        _save(segment)
        _leave_traces(segment, events.SEGMENT_UPDATED, by=by, now=now, changes=told)
    return segment


@transaction.atomic
def remove_segment(*, segment: Segment, now: datetime, by: Actor) -> None:
    """Remove a segment but not its contacts. Raises `SegmentInUse` while something needs the segment."""
    segment = lock_segment(segment)
    for use in segment_uses:
        needed_by = use.find(segment)
        if needed_by:
            raise SegmentInUse(f"This segment is needed by {needed_by}.")
    _leave_traces(segment, events.SEGMENT_DELETED, by=by, now=now)
    segment.delete()


def contacts_in(segment: Segment) -> "QuerySet[Contact]":
    """Return the contacts that a segment's filter finds now."""
    return Contact.objects.of(segment.workspace).filter(condition_of(segment.filter))


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


def _save(segment: Segment, **options: Any) -> None:
    try:
        segment.save(**options)
    except IntegrityError as error:
        if violated_constraint(error) == "segment_name_once_per_workspace":
            raise SegmentNameTaken from error
        raise


def _leave_traces(segment: Segment, event: str, *, by: Actor, now: datetime, **more: Any) -> None:
    workspace = segment.workspace
    details = {"segment": str(segment.uuid), "name": segment.name}
    changes = from_differences(more.get("changes", {}))
    record_workspace_activity(workspace=workspace, action=event, by=by, details=details, changes=changes)
    record_workspace_event(workspace=workspace, name=event, now=now, segment=segment, **more)
