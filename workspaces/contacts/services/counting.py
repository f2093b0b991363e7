"""Counts a workspace's contacts: all, with a tag, or of each segment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import OperationalError, connection, transaction
from django.db.models import Q, Sum
from django.db.models.functions import Now

from config.db import database_now
from config.tries.counting import begin_next, run_begun
from workspaces.contacts.models import Contact, ContactCount, ContactFacetCount, Segment
from workspaces.contacts.models.contacts import SegmentQuerySet
from workspaces.contacts.services.segments import SqlCondition, filter_to_q, filter_to_sql, has_only_facets
from workspaces.subaccounts.models import Workspace

ROWS_TO_MERGE: Final = 500
FIND_WORKSPACE_TO_MERGE: Final = """
SELECT workspace_id FROM (
    SELECT workspace_id, count(*) AS number FROM contacts_contactfacetcount WHERE NOT is_merged GROUP BY workspace_id
) AS added
WHERE number >= %(rows)s AND number * 4 >= (
    SELECT count(*) FROM contacts_contactfacetcount AS merged
    WHERE merged.workspace_id = added.workspace_id AND merged.is_merged)
LIMIT 1
"""
MERGE_COUNTS: Final = """
WITH gone AS (
    DELETE FROM contacts_contactfacetcount WHERE workspace_id = %(workspace)s
    RETURNING country, timezone, tag_keys, platforms, number
)
INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number, is_merged)
SELECT %(workspace)s, country, timezone, tag_keys, platforms, sum(number), true FROM gone
GROUP BY country, timezone, tag_keys, platforms HAVING sum(number) <> 0
"""

COUNT_CONTACTS: Final = "SELECT {columns} FROM contacts_contact AS contact WHERE {where} AND contact.workspace_id = %s"


def count_contacts(workspace: Workspace) -> int:
    """Return the number of a workspace's contacts from the stored counts."""
    counted = ContactCount.objects.filter(workspace_id=workspace.pk).aggregate(total=Sum("number"))
    return int(counted["total"] or 0)


def used_contacts(workspace: Workspace) -> Mapping[str, int]:
    """Return the usage that the plan's limit of contacts is compared with."""
    return {"contacts": count_contacts(workspace)}


def count_with_tag(workspace: Workspace, key: str) -> int:
    """Count the contacts with a tag. `key` is the tag in the form used for comparison."""
    return count_by_facets(workspace, {"found": Q(tag_keys__contains=[key])})["found"]


def count_by_facets(workspace: Workspace, conditions: Mapping[str, Q]) -> dict[str, int]:
    """Count the contacts that meet each named condition on country, time zone, tags and platforms."""
    sums = {name: Sum("number", filter=condition or None, default=0) for name, condition in conditions.items()}
    counted: dict[str, int] = ContactFacetCount.objects.filter(workspace_id=workspace.pk).aggregate(**sums)
    return counted


def count_by_conditions(workspace: Workspace, conditions: Mapping[str, SqlCondition]) -> dict[str, int]:
    """Count the contacts that meet each named condition, in one scan of an index for all conditions."""
    if len(conditions) == 1:
        [condition] = conditions.values()
        columns, where, values = "count(*)", condition.sql, [*condition.values, workspace.pk]
    else:
        columns = ", ".join(f"count(*) FILTER (WHERE {one.sql})" for one in conditions.values())
        where, values = "true", [*(value for one in conditions.values() for value in one.values), workspace.pk]
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CONTACTS.format(columns=columns, where=where), values)
        found = cursor.fetchone()
    return dict(zip(conditions, found, strict=True))


def merge_counts(*, rows: int = ROWS_TO_MERGE) -> bool:
    """Merge the count rows of equal facets for one workspace that is due. Return whether there was one.

    A workspace is due when it has at least `rows` new rows and a quarter as many as merged ones, so that the work stays
    in proportion. Rows that are added meanwhile are left alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIND_WORKSPACE_TO_MERGE, {"rows": rows})
        found = cursor.fetchone()
        if found:
            cursor.execute(MERGE_COUNTS, {"workspace": found[0]})
    return found is not None


def has_contacts(workspace: Workspace) -> bool:
    """Return whether a workspace has any contact."""
    return Contact.objects.of(workspace).exists()


# With up to so many contacts, segments by attributes or times are counted at once, in some 50 ms. With more, their
# numbers are stored.
MOST_COUNTED_AT_ONCE: Final = 100_000
FRESH_FOR: Final = timedelta(minutes=1)
# The first count of a segment may take so long while the request waits; a recount in the background may take longer.
FIRST_COUNT_MS: Final = 1_000
RECOUNT_MS: Final = 60_000
# Segments of one workspace that are counted in one index scan.
RECOUNTED_AT_ONCE: Final = 25
KIND: Final = "segment sizes"


@contextmanager
def time_limit(milliseconds: int) -> Iterator[None]:
    """Limit the time of each statement within. One that takes longer raises `OperationalError`."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
        yield


def attach_size(segment: Segment) -> Segment:
    """Set a segment's `size` to the number of its contacts, and return the segment."""
    return attach_sizes(segment.workspace, [segment])[0]


def attach_sizes(workspace: Workspace, segments: Iterable[Segment]) -> list[Segment]:
    """Set the `size` of a workspace's segments to their number of contacts, and return them.

    The number is exact for a filter by country, time zone, tags and channels only, and in a workspace of up to 100,000
    contacts. Otherwise it was counted recently, or is None if the first count takes longer than a second.
    """
    some = list(segments)
    walked = [one for one in some if not has_only_facets(one.filter)]
    counted = [one for one in some if has_only_facets(one.filter)]
    if counted:
        sizes = count_by_facets(workspace, {_name(one): filter_to_q(one.filter) for one in counted})
        for one in counted:
            one.size = sizes[_name(one)]
    if walked and count_contacts(workspace) <= MOST_COUNTED_AT_ONCE:
        _count(workspace, walked)
    elif walked:
        _read_stored(workspace, walked)
    return some


def count_matching(workspace: Workspace, filter: Mapping[str, object]) -> int | None:
    """Count the contacts that a checked filter finds, or return None if that takes longer than a second."""
    if has_only_facets(filter):
        return count_by_facets(workspace, {"found": filter_to_q(filter)})["found"]
    try:
        with time_limit(FIRST_COUNT_MS):
            return count_by_conditions(workspace, {"found": filter_to_sql(filter)})["found"]
    except OperationalError:
        return None


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
    found = list(segments.select_related("workspace").order_by("pk")[:RECOUNTED_AT_ONCE])
    if found:
        _store(found[0].workspace, found, RECOUNT_MS)


def _count_no_more(segments: SegmentQuerySet) -> None:
    """Stop recounting segments whose count keeps crashing its process. They keep their last number."""
    segments.update(recount_asked_at=None)


def _read_stored(workspace: Workspace, segments: Sequence[Segment]) -> None:
    new = [one for one in segments if one.counted_at is None and one.recount_asked_at is None]
    if new:
        _store(workspace, new, FIRST_COUNT_MS)
    for one in segments:
        one.size = one.counted_size
    now = database_now()
    old = [one.pk for one in segments if one.counted_at is None or one.counted_at < now - FRESH_FOR]
    if old:
        Segment.objects.filter(pk__in=old, recount_asked_at=None).update(recount_asked_at=Now())


def _store(workspace: Workspace, segments: Sequence[Segment], longest_ms: int) -> None:
    """Count segments within a time limit and store the numbers. After a timeout the last numbers stay."""
    now, is_counted = database_now(), True
    try:
        with time_limit(longest_ms):
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
    sizes = count_by_conditions(workspace, {_name(one): filter_to_sql(one.filter) for one in segments})
    for one in segments:
        one.size = sizes[_name(one)]


def _name(segment: Segment) -> str:
    return f"size_{segment.pk}"
