"""Counts the contacts of segments now, or reads a stored number in a workspace with very many contacts."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now

from config.db import database_now
from config.tries.counting import begin_next, run_begun
from workspaces.contacts.models import Segment
from workspaces.contacts.models.segments import SegmentQuerySet
from workspaces.contacts.services.conditions import condition_of, counted_condition, has_only_facets
from workspaces.contacts.services.counting import count_by_facets, count_by_facts, count_contacts
from workspaces.subaccounts.models import Workspace

# With up to so many contacts, segments by attributes or times are counted at once, in some 50 ms. With more, their
# numbers are stored.
MOST_COUNTED_AT_ONCE: Final = 100_000
KEPT: Final = timedelta(minutes=1)
# The first count of a segment may take so long while the request waits; a recount in the background may take longer.
FIRST_MS: Final = 1_000
RECOUNT_MS: Final = 60_000
# Segments of one workspace that are counted in one index scan.
AT_ONCE: Final = 25
KIND: Final = "segment sizes"


def with_size(segment: Segment) -> Segment:
    """Set a segment's `size` to the number of its contacts, and return the segment."""
    return with_sizes(segment.workspace, [segment])[0]


def with_sizes(workspace: Workspace, segments: Iterable[Segment]) -> list[Segment]:
    """Set the `size` of a workspace's segments to their number of contacts, and return them.

    The number is exact for a filter by country, time zone, tags and channels only, and in a workspace of up to 100,000
    contacts. Otherwise it was counted recently, or is None if the first count takes longer than a second.
    """
    some = list(segments)
    walked = [one for one in some if not has_only_facets(one.filter)]
    counted = [one for one in some if has_only_facets(one.filter)]
    if counted:
        sizes = count_by_facets(workspace, {_name(one): condition_of(one.filter) for one in counted})
        for one in counted:
            one.size = sizes[_name(one)]
    if walked and count_contacts(workspace) <= MOST_COUNTED_AT_ONCE:
        _count(workspace, walked)
    elif walked:
        _read_kept(workspace, walked)
    return some


def recount_segments() -> bool:
    """Recount one workspace's segments that need it. Return whether there were any."""
    begun = begin_next(segments_to_recount().only("workspace"), kind=KIND, key="workspace_id")
    if begun is None:
        return False
    mine = Segment.objects.filter(recount_asked_at__isnull=False, workspace=begun[0].workspace_id)
    run_begun(begun[1], partial(_recount, mine), give_up=partial(_count_no_more, mine), counts_faults=True)
    return True


def segments_to_recount() -> SegmentQuerySet:
    """Return the segments whose stored number was too old for a reader, in the order of these requests."""
    return Segment.objects.filter(recount_asked_at__isnull=False).order_by("recount_asked_at")


def _recount(segments: SegmentQuerySet) -> None:
    found = list(segments.select_related("workspace").order_by("pk")[:AT_ONCE])
    if found:
        _keep(found[0].workspace, found, RECOUNT_MS)


def _count_no_more(segments: SegmentQuerySet) -> None:
    """Stop recounting segments whose count keeps crashing its process. They keep their last number."""
    segments.update(recount_asked_at=None)


def _read_kept(workspace: Workspace, segments: Sequence[Segment]) -> None:
    new = [one for one in segments if one.counted_at is None and one.recount_asked_at is None]
    if new:
        _keep(workspace, new, FIRST_MS)
    for one in segments:
        one.size = one.counted_size
    now = database_now()
    old = [one.pk for one in segments if one.counted_at is None or one.counted_at < now - KEPT]
    if old:
        Segment.objects.filter(pk__in=old, recount_asked_at=None).update(recount_asked_at=Now())


def _keep(workspace: Workspace, segments: Sequence[Segment], longest_ms: int) -> None:
    """Count segments within a time limit and store the numbers. After a timeout the last numbers stay."""
    now, is_counted = database_now(), True
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(longest_ms)])
            _count(workspace, segments)
    except OperationalError:
        is_counted = False
    for one in segments:
        found = {"counted_size": one.size, "counted_at": now} if is_counted else {}
        # A segment that was changed meanwhile is skipped, as this size belongs to its old filter.
        Segment.objects.filter(pk=one.pk, updated_at=one.updated_at).update(**found, recount_asked_at=None)
        if is_counted:
            one.counted_size, one.counted_at = one.size, now


def _count(workspace: Workspace, segments: Sequence[Segment]) -> None:
    sizes = count_by_facts(workspace, {_name(one): counted_condition(one.filter) for one in segments})
    for one in segments:
        one.size = sizes[_name(one)]


def _name(segment: Segment) -> str:
    return f"size_{segment.pk}"
