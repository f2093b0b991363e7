"""Changes that come before their message wait for it: for a day, and the newest of each channel."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from config.leases.arrays import integers, moments, texts

MOST_OF_A_CHANNEL = 1_000
# Longer than a transaction lasts that parks a change or makes its message known, and than one look waits behind other
# tasks; of so many at most, the newest.
LATELY = timedelta(minutes=15)
MOST_LOOKED_AT = 10_000

PARK = """
INSERT INTO conversations_parkedchange AS parked (channel_id, message_id, kind, text, at, parked_at)
SELECT told.channel_id, told.message_id, %s, told.text, told.at, %s
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, message_id, text, at)
WHERE NOT EXISTS (
    SELECT FROM conversations_message message
    WHERE message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
)
ON CONFLICT (channel_id, message_id, kind) DO UPDATE SET parked_at = excluded.parked_at,
    text = CASE WHEN parked.at <= excluded.at THEN excluded.text ELSE parked.text END,
    at = greatest(parked.at, excluded.at)
RETURNING channel_id
"""
# What is about messages that never come (reactions to broadcasts, say) makes room for what came later.
MAKE_ROOM = """
DELETE FROM conversations_parkedchange WHERE id IN (
    SELECT old.id FROM unnest(%s::bigint[]) AS full_one (channel_id) CROSS JOIN LATERAL (
        SELECT id FROM conversations_parkedchange AS parked WHERE parked.channel_id = full_one.channel_id
        ORDER BY id DESC OFFSET %s
    ) AS old)
"""
# Messages of ours are known before the network's id of them is: that comes with its answer, a status or an echo, and
# what is told at that same moment is parked all the same.
KNOWN = """
SELECT DISTINCT parked.channel_id, parked.message_id FROM (
    SELECT channel_id, message_id FROM conversations_parkedchange WHERE parked_at > %s ORDER BY parked_at DESC LIMIT %s
) AS parked
JOIN conversations_message message
    ON message.channel_id = parked.channel_id AND message.provider_message_id = parked.message_id
LIMIT %s
"""
# A reader that holds one of them is parking it anew, or applies it.
EXPECT = """
UPDATE conversations_parkedchange SET parked_at = %s WHERE id = ANY (ARRAY (
    SELECT parked.id FROM unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
    JOIN conversations_parkedchange parked USING (channel_id, message_id)
    FOR NO KEY UPDATE OF parked SKIP LOCKED))
"""
TAKE = """
DELETE FROM conversations_parkedchange parked USING unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
RETURNING parked.kind, parked.channel_id, parked.message_id, parked.text, parked.at
"""
# What is no longer looked at goes a day after it was told.
LEAVE = """
UPDATE conversations_parkedchange parked SET parked_at = least(parked.parked_at, %s)
FROM unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
"""


class Change(NamedTuple):
    """Of a message by its provider's id: a new text, an emoji, or nothing where it was taken back."""

    channel_id: int
    message_id: str
    text: str
    at: datetime


def columns_of(changes: Collection[Change]) -> list[str]:
    return [
        integers([one.channel_id for one in changes]),
        texts([one.message_id for one in changes]),
        texts([one.text for one in changes]),
        moments([one.at for one in changes]),
    ]


def park_changes(kind: str, changes: Sequence[Change], *, now: datetime) -> None:
    """Keep those of messages that are not known yet, the newest of each kind."""
    with connection.cursor() as cursor:
        cursor.execute(PARK, [kind, now, *columns_of(changes)])
        parked = {row[0] for row in cursor.fetchall()}
        if parked:
            cursor.execute(MAKE_ROOM, [integers(parked), MOST_OF_A_CHANNEL])


def expect_known_messages(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Have changes of messages looked at whose provider's ids, told by their channels, have just become known.

    For callers that may not wait for those who read callbacks; waits for nobody.
    """
    if messages:
        values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
        with connection.cursor() as cursor:
            cursor.execute(EXPECT, [now, *values])


def known_messages_with_parked_changes(most: int, *, now: datetime) -> list[tuple[int, str]]:
    """Give messages that are there, by channel and provider's id, of which changes were parked lately all the same."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, [now - LATELY, MOST_LOOKED_AT, most])
        found: list[tuple[int, str]] = cursor.fetchall()
    return found


def leave_parked_changes(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Look no longer at what was told of these messages."""
    values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
    with connection.cursor() as cursor:
        cursor.execute(LEAVE, [now - LATELY, *values])


def take_parked_changes(messages: Iterable[tuple[int, str]]) -> dict[str, list[Change]]:
    """Give and forget what was told of messages that have come now, by its kind."""
    known = list(messages)
    found: dict[str, list[Change]] = {}
    if known:
        with connection.cursor() as cursor:
            cursor.execute(TAKE, [integers([one[0] for one in known]), texts([one[1] for one in known])])
            for kind, *change in cursor.fetchall():
                found.setdefault(kind, []).append(Change(*change))
    return found
