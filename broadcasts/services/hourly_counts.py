"""Counts the broadcasts that began in each hour, by agency."""

from datetime import datetime
from typing import Final

from django.db import connection

from agency.services.hourly_counts import CountedHours, HourlyCounter

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
