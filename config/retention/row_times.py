"""Finds where in a table a time begins, for rows whose ids rise with the time at which they were made."""

from datetime import datetime

from django.db import connection

# `first` and `end` are in both conditions of the probe, so that the planner considers one partition of a partitioned
# table.
HALVE = """
WITH RECURSIVE halved (low, high) AS (
    SELECT coalesce(min(id), %(end)s), coalesce(max(id) + 1, %(end)s)
    FROM {table} WHERE id >= %(first)s AND id < %(end)s
    UNION ALL
    SELECT CASE WHEN probe.made_at < %(moment)s THEN probe.id + 1 ELSE low END,
        CASE WHEN probe.made_at < %(moment)s THEN high ELSE (low + high) / 2 END
    FROM halved LEFT JOIN LATERAL (
        SELECT id, {column} AS made_at FROM {table}
        WHERE id >= (halved.low + halved.high) / 2 AND id < halved.high AND id >= %(first)s AND id < %(end)s
        ORDER BY id LIMIT 1
    ) AS probe ON true
    WHERE low < high
)
SELECT min(low) FROM halved WHERE low >= high
"""


def first_id_since(moment: datetime, *, table: str, column: str, first: int, end: int) -> int:
    """Return an id from `first` to `end`: rows made since `moment` have at least this id, earlier rows have less.

    It reads some twenty rows, however many there are.
    """
    with connection.cursor() as cursor:
        cursor.execute(HALVE.format(table=table, column=column), {"moment": moment, "first": first, "end": end})
        found: int = cursor.fetchone()[0]
    return found
