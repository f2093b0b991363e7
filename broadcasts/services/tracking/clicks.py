"""Clicks on tracked links: where one leads, that somebody followed it, and once for each recipient that it counts."""

import logging
import time
from collections import Counter
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

import orjson
from django.db import DatabaseError, connection, transaction

from broadcasts.content import FrozenMessage
from broadcasts.events import LINK_CLICKED
from broadcasts.models import Broadcast
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recording import record_recipient_events
from broadcasts.services.tracking.links import Target, read_token, target_of

logger = logging.getLogger(__name__)

CACHE_SECONDS: Final = 30
MOST_CACHED: Final = 512
BATCH: Final = 5_000

# Written by hand: through the ORM this one row would cost more than all the rest of the answer.
VALUES = "SELECT values::text FROM broadcasts_recipient WHERE broadcast_id = %s AND contact_id = %s"
# Nobody waits for a disk on behalf of a click: a crash of PostgreSQL itself may forget those of its last half second.
RECORD = """
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO broadcasts_click (broadcast_id, contact_id, link, clicked_at)
SELECT %s, %s, %s, statement_timestamp() FROM quick
"""
# Rows are locked in the order of their keys, as statuses lock them, so that nobody waits in a circle.
COUNT = """
WITH taken AS (
    DELETE FROM broadcasts_click WHERE id = ANY (ARRAY (
        SELECT id FROM broadcasts_click ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
    RETURNING broadcast_id, contact_id, clicked_at),
firsts AS (
    SELECT broadcast_id, contact_id, min(clicked_at) AS clicked_at FROM taken GROUP BY broadcast_id, contact_id),
locked AS (
    SELECT recipient.broadcast_id, recipient.contact_id, firsts.clicked_at
    FROM broadcasts_recipient recipient JOIN firsts USING (broadcast_id, contact_id)
    WHERE recipient.clicked_at IS NULL
    ORDER BY recipient.broadcast_id, recipient.contact_id FOR UPDATE OF recipient),
changed AS (
    UPDATE broadcasts_recipient recipient SET clicked_at = locked.clicked_at FROM locked
    WHERE recipient.broadcast_id = locked.broadcast_id AND recipient.contact_id = locked.contact_id
        AND recipient.clicked_at IS NULL
    RETURNING recipient.broadcast_id, recipient.contact_id)
SELECT (SELECT count(*) FROM taken), broadcast_id, contact_id FROM (SELECT) one LEFT JOIN changed ON true
"""


class FollowedLink(NamedTuple):
    """A link that somebody follows, and the address that it leads to."""

    link: Target
    address: str


def follow_link(token: str) -> FollowedLink | None:
    """Find where a tracked link leads; None for a token that is not ours or whose broadcast is gone.

    At most one statement for a broadcast that was looked up within seconds, and none where no address of it has
    variables.
    """
    link = read_token(token)
    frozen = _frozen(link.broadcast_id, int(time.monotonic()) // CACHE_SECONDS) if link else None
    if link is None or frozen is None:
        return None
    has_variables = link.number < len(frozen.links) and "{{" in frozen.links[link.number]
    values = _values(link) if has_variables else None
    address = target_of(frozen, link.number, values)
    return FollowedLink(link, address) if address else None


def _values(link: Target) -> list[str] | None:
    with connection.cursor() as cursor:
        cursor.execute(VALUES, [link.broadcast_id, link.contact_id])
        row = cursor.fetchone()
    return orjson.loads(row[0]) if row and row[0] else None


# What sending was begun with never changes; only its removal has to be noticed, so the time is a part of the key.
@lru_cache(maxsize=MOST_CACHED)
def _frozen(broadcast: int, _period: int) -> FrozenMessage | None:
    kept = Broadcast.objects.filter(pk=broadcast).values_list("frozen", flat=True).first()
    return FrozenMessage(variables=tuple(kept["variables"]), links=tuple(kept["links"])) if kept else None


def record_click(link: Target) -> None:
    """Write down that somebody followed a link; it is counted soon. Without a database the click is lost, no more."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(RECORD, link)
    except DatabaseError as fault:
        logger.warning("a click could not be recorded", extra={"reason": type(fault).__name__})


@transaction.atomic
def count_clicks(*, now: datetime) -> int:
    """Count a batch of recorded clicks, the first of each recipient; says how many were taken."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [BATCH])
        rows = cursor.fetchall()
    firsts = [(broadcast, contact) for _, broadcast, contact in rows if broadcast is not None]
    if firsts:
        record_recipient_events(LINK_CLICKED, firsts, now=now)
        add_counts({key: {"clicked": number} for key, number in Counter(one for one, _ in firsts).items()})
    return int(rows[0][0])
