"""Counts of a broadcast and of an agency, the plan's monthly limit, and allowance that is returned."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Sum
from django.utils import timezone
from psycopg import Cursor
from psycopg.rows import TupleRow

from agency.services.hourly_counts import CountedHours, HourlyCounter
from broadcasts.models import Broadcast, BroadcastCount
from channelconnect.sending.allowance import give_back, person_key
from channelconnect.services.allowance_keys import DatabaseCursor, keys_of
from config.postgresql.arrays import integers
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import check_limit

COUNTS: Final = ("pending", "sent", "delivered", "read", "failed", "skipped", "held", "clicked")
BUCKETS: Final = 16

# Each database connection writes to one bucket, so two writers rarely wait for each other. Rows are locked in the order
# of their broadcasts, so writers that do wait cannot deadlock.
ADD = f"""
INSERT INTO broadcasts_broadcastcount AS kept (broadcast_id, bucket, {", ".join(COUNTS)})
SELECT change.broadcast_id, pg_backend_pid() %% {BUCKETS}, {", ".join(f"change.{name}" for name in COUNTS)}
FROM unnest(%s::bigint[], {", ".join("%s::int[]" for _ in COUNTS)}) AS change (broadcast_id, {", ".join(COUNTS)})
ORDER BY change.broadcast_id
ON CONFLICT (broadcast_id, bucket)
DO UPDATE SET {", ".join(f"{name} = kept.{name} + excluded.{name}" for name in COUNTS)}
"""  # noqa: S608  # names of our own


def add_counts(changes: Mapping[int, Mapping[str, int]], *, cursor: Cursor[TupleRow] | None = None) -> None:
    """Add differences to broadcasts' counts, by broadcast and count, inside the caller's transaction.

    `cursor` may belong to a worker's own connection; otherwise the project's connection is used. Differences of zero
    write nothing. Call it once in a transaction and as late as possible: others may wait for these rows until the
    commit.
    """
    changed = {key: counts for key, counts in sorted(changes.items()) if any(counts.values())}
    if not changed:
        return
    columns = [integers(counts.get(name, 0) for counts in changed.values()) for name in COUNTS]
    if cursor is not None:
        cursor.execute(ADD, [integers(changed), *columns], prepare=True)
        return
    with connection.cursor() as own:
        own.execute(ADD, [integers(changed), *columns])


def counts_of(broadcasts: Collection[Broadcast]) -> dict[int, dict[str, int]]:
    """Return the counts of broadcasts by their keys: each status, `held` (part of pending) and `clicked`."""
    ids = [broadcast.pk for broadcast in broadcasts]
    counts = {key: dict.fromkeys(COUNTS, 0) for key in ids}
    if not ids:
        return counts
    sums = BroadcastCount.objects.filter(broadcast_id__in=ids).values("broadcast_id")
    rows: Iterable[Mapping[str, Any]] = sums.annotate(**{f"sum_{name}": Sum(name) for name in COUNTS})
    for row in rows:
        counts[row["broadcast_id"]] = {name: row[f"sum_{name}"] for name in COUNTS}
    return counts


BEGUN: Final = "broadcasts_begun"
COUNT = """
SELECT workspace.agency_id, 'broadcasts_begun', date_trunc('hour', broadcast.started_at, 'UTC') AS hour, count(*)
FROM broadcasts_broadcast AS broadcast JOIN subaccounts_workspace AS workspace ON workspace.id = broadcast.workspace_id
WHERE broadcast.started_at >= %(first)s AND broadcast.started_at < %(end)s
GROUP BY 1, 2, 3
"""


def count_broadcasts(first: datetime, end: datetime, after: int) -> CountedHours:
    """Count by `started_at`, which has an index."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"first": first, "end": end})
        return CountedHours(cursor.fetchall())


BEGUN_BROADCASTS: Final = HourlyCounter("broadcasts", count_broadcasts)


LIMIT = "broadcasts_per_month"


def require_quota(workspace: Workspace, *, now: datetime) -> None:
    """Refuse a broadcast beyond the limit. Raises `LimitReached`.

    The caller holds the workspace's lock, and counts the broadcast in the same transaction.
    """
    check_limit(workspace=workspace, name=LIMIT, used=count_of_month(workspace, now=now))


def count_of_month(workspace: Workspace, *, now: datetime) -> int:
    """Count the broadcasts that were scheduled this month and not cancelled before they began."""
    first = now.astimezone(ZoneInfo(workspace.timezone)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Broadcast.objects.of(workspace).filter(counted_at__gte=first).count()


def used_broadcasts(workspace: Workspace) -> Mapping[str, int]:
    """Count the usage of the plan's limit of broadcasts."""
    return {LIMIT: count_of_month(workspace, now=timezone.now())}


def release_allowance(cursor: DatabaseCursor, taken: Collection[tuple[int, str | None]]) -> None:
    """Return the room taken for messages, by their channels and addresses, in the caller's transaction.

    A contact who was removed meanwhile has no address any more; that room opens with time.
    """
    known = [(channel, address) for channel, address in taken if address is not None]
    if not known:
        return
    keys = keys_of(cursor, {channel for channel, _ in known})
    give_back(cursor, [(keys[channel].name, person_key(address)) for channel, address in known if channel in keys])
