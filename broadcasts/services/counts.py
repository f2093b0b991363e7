"""A broadcast's counts. They change in the transaction that changes recipients, so rows are never counted."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from django.db import connection
from django.db.models import Sum

from broadcasts.models import Broadcast, BroadcastCount
from config.leases.arrays import integers

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


def add_counts(changes: Mapping[int, Mapping[str, int]], *, cursor: Any = None) -> None:
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
    for row in sums.annotate(**{f"sum_{name}": Sum(name) for name in COUNTS}):
        counts[row["broadcast_id"]] = {name: row[f"sum_{name}"] for name in COUNTS}  # type: ignore[literal-required]
    return counts
