"""Somebody writes to what a dead sender had claimed, just when another one frees it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.utils.timezone import now

from broadcasts.models import Recipient, Stage
from broadcasts.services.link_clicks import count_clicks, record_clicks
from broadcasts.services.tracked_links import LinkToken
from config.postgresql.concurrency import AdvisoryLock
from tests.waiting import PATIENCE_SECONDS, until

# Who frees rows, and waits for somebody who has one of them.
FREEING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%%run = ANY%%SET stage = 2%%'
"""
DEAD = """
SELECT number FROM channelconnect_senderrun WHERE number NOT IN (
    SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


@contextmanager
def clicked_while_freed(keys: Sequence[tuple[int, int]]) -> Iterator[None]:
    """Count clicks of recipients who are claimed by dead senders; the block has them freed.

    Whoever frees them waits for the transaction of the clicks, which then commits: the rows have moved.
    """
    assert keys
    record_clicks([LinkToken(broadcast, contact, 0) for broadcast, contact in keys])
    with transaction.atomic():
        count_clicks(now=now())
        yield
        until(_is_freeing, what="somebody who frees them")


def _is_freeing() -> bool:
    # Within a transaction the list of sessions is otherwise the one that was read first.
    _rows("SELECT pg_stat_clear_snapshot()")
    return bool(_rows(FREEING)[0][0])


def claimed_by_the_dead(seconds: float = PATIENCE_SECONDS) -> list[tuple[int, int]]:
    """Give whom senders had claimed that are gone, as soon as PostgreSQL knows of it; nobody after so long."""
    end, keys = time.monotonic() + seconds, list[tuple[int, int]]()
    while not keys and time.monotonic() < end:
        time.sleep(0.01)
        claimed = Recipient.objects.filter(stage=Stage.CLAIMED, run__in=dead_senders())
        keys = list(claimed.order_by("pk").values_list("pk", flat=True))
    return keys


def dead_senders() -> set[int]:
    """Give the runs of senders that are gone, as far as PostgreSQL knows, and are not forgotten yet."""
    return {number for (number,) in _rows(DEAD, [AdvisoryLock.SENDER_RUN.value])}


def _rows(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
