"""Parks changes that come before their message, for a day and up to a limit for each channel."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from config.postgresql.arrays import integers, texts, timestamps

MOST_OF_A_CHANNEL = 1_000
# Longer than the transactions that park a change or make its message known, and than this task waits behind others. At
# most the newest `MOST_LOOKED_AT` changes are checked.
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
# Changes of messages that never come, such as reactions to broadcasts, make room for newer ones.
MAKE_ROOM = """
DELETE FROM conversations_parkedchange WHERE id IN (
    SELECT old.id FROM unnest(%s::bigint[]) AS full_one (channel_id) CROSS JOIN LATERAL (
        SELECT id FROM conversations_parkedchange AS parked WHERE parked.channel_id = full_one.channel_id
        ORDER BY id DESC OFFSET %s
    ) AS old)
"""
# We know our own messages before their network's ids. An id comes with the network's answer, a status or an echo. A
# change that comes at the same moment is still parked.
KNOWN = """
SELECT DISTINCT parked.channel_id, parked.message_id FROM (
    SELECT channel_id, message_id FROM conversations_parkedchange WHERE parked_at > %s ORDER BY parked_at DESC LIMIT %s
) AS parked
JOIN conversations_message message
    ON message.channel_id = parked.channel_id AND message.provider_message_id = parked.message_id
LIMIT %s
"""
# Rows that another reader has locked are skipped; that reader parks them again or applies them.
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
# A change that is not checked any more is dropped a day after it was reported.
LEAVE = """
UPDATE conversations_parkedchange parked SET parked_at = least(parked.parked_at, %s)
FROM unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
"""


class Change(NamedTuple):
    """A change of the message with a provider's id. `text` is the new text, the emoji, or "" for a removal."""

    channel_id: int
    message_id: str
    text: str
    at: datetime


def columns_of(changes: Collection[Change]) -> list[str]:
    return [
        integers([one.channel_id for one in changes]),
        texts([one.message_id for one in changes]),
        texts([one.text for one in changes]),
        timestamps([one.at for one in changes]),
    ]


def park_changes(kind: str, changes: Sequence[Change], *, now: datetime) -> None:
    """Park the changes of messages that are not known yet, the newest of each kind."""
    with connection.cursor() as cursor:
        cursor.execute(PARK, [kind, now, *columns_of(changes)])
        parked = {row[0] for row in cursor.fetchall()}
        if parked:
            cursor.execute(MAKE_ROOM, [integers(parked), MOST_OF_A_CHANNEL])


def expect_known_messages(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Mark the parked changes of messages whose provider's ids have just become known, so that a task applies them.

    `messages` holds channel keys and provider's ids. Callers that must not wait for callback readers use this; it skips
    locked rows.
    """
    if messages:
        values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
        with connection.cursor() as cursor:
            cursor.execute(EXPECT, [now, *values])


def known_messages_with_parked_changes(most: int, *, now: datetime) -> list[tuple[int, str]]:
    """Return known messages, by channel and provider's id, that have recently parked changes."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, [now - LATELY, MOST_LOOKED_AT, most])
        found: list[tuple[int, str]] = cursor.fetchall()
    return found


def leave_parked_changes(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Stop checking the parked changes of these messages."""
    values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
    with connection.cursor() as cursor:
        cursor.execute(LEAVE, [now - LATELY, *values])


def take_parked_changes(messages: Iterable[tuple[int, str]]) -> dict[str, list[Change]]:
    """Remove the parked changes of these messages and return them by kind."""
    known = list(messages)
    found: dict[str, list[Change]] = {}
    if known:
        with connection.cursor() as cursor:
            cursor.execute(TAKE, [integers([one[0] for one in known]), texts([one[1] for one in known])])
            for kind, *change in cursor.fetchall():
                found.setdefault(kind, []).append(Change(*change))
    return found
