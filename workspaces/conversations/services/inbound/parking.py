"""Changes that come before their message wait for it: for a day, and so many of a channel."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from config.leases.arrays import integers, moments, texts

MOST_OF_A_CHANNEL = 1_000

PARK = """
INSERT INTO conversations_parkedchange AS parked (channel_id, message_id, kind, text, at, parked_at)
SELECT told.channel_id, told.message_id, %s, told.text, told.at, %s
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, message_id, text, at)
WHERE NOT EXISTS (
    SELECT FROM conversations_message message
    WHERE message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
) AND (
    SELECT count(*) FROM (SELECT FROM conversations_parkedchange WHERE channel_id = told.channel_id LIMIT %s) AS others
) < %s
ON CONFLICT (channel_id, message_id, kind) DO UPDATE SET text = excluded.text, at = excluded.at
    WHERE parked.at <= excluded.at
"""
TAKE = """
DELETE FROM conversations_parkedchange parked USING unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
RETURNING parked.kind, parked.channel_id, parked.message_id, parked.text, parked.at
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
        cursor.execute(PARK, [kind, now, *columns_of(changes), MOST_OF_A_CHANNEL, MOST_OF_A_CHANNEL])


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
