"""Where in a table a moment is, for rows whose numbers rise with the time at which they were made."""

from datetime import datetime

from django.db import connection

# `first` and `end` stand in both conditions of the probe, so that of a partitioned table one partition is planned for.
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
    """Give a number from `first` to `end` that the rows made since a moment have at least, and all before stay below.

    It reads some twenty rows, however many there are.
    """
    with connection.cursor() as cursor:
        cursor.execute(HALVE.format(table=table, column=column), {"moment": moment, "first": first, "end": end})
        found: int = cursor.fetchone()[0]
    return found
