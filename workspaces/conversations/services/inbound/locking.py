"""One reader at a time for each channel."""

from collections.abc import Collection

from django.db import connection

from config.postgresql.advisory_locks import AdvisoryLock

LOCK = """
SELECT pg_advisory_xact_lock(%s, channel.number)
FROM (SELECT number FROM unnest(%s::integer[]) AS asked (number) ORDER BY number) AS channel
"""


def lock_channels(channels: Collection[int]) -> None:
    """Hold channels by their numbers until the transaction ends; all of a transaction at once, as its first statement.

    They are taken in one order, so readers wait in a line. Statements of another transaction are seen by the next
    statement, so whoever waited here sees all that its predecessor did.
    """
    numbers = sorted({number % 2**31 for number in channels})
    if numbers:
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [AdvisoryLock.CHANNEL_INBOX.value, numbers])
