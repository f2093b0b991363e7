"""Counts each agency's received and sent messages by the hour."""

from datetime import datetime
from typing import Final

from django.db import connection

from agency.services.hourly_counts import CountedHours, HourlyCounter

RECEIVED: Final = "messages_received"
SENT: Final = "messages_sent"
NEWEST = "SELECT coalesce(max(id), 0) FROM conversations_message"
# `id > after` limits the scan, because no index has `created_at`.
COUNT = """
SELECT workspace.agency_id, CASE message.direction WHEN 'in' THEN 'messages_received' ELSE 'messages_sent' END,
    date_trunc('hour', message.created_at, 'UTC') AS hour, count(*)
FROM conversations_message AS message JOIN subaccounts_workspace AS workspace ON workspace.id = message.workspace_id
WHERE message.id > %(after)s AND message.created_at >= %(first)s AND message.created_at < %(end)s
GROUP BY 1, 2, 3
"""


def count_messages(first: datetime, end: datetime, after: int) -> CountedHours:
    with connection.cursor() as cursor:
        cursor.execute(NEWEST)
        [newest] = cursor.fetchone()
        cursor.execute(COUNT, {"first": first, "end": end, "after": after})
        return CountedHours(cursor.fetchall(), newest)


MESSAGES = HourlyCounter("messages", count_messages)
