"""Finds or opens the conversations of facts and locks them, in the same order everywhere."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from config.postgresql.arrays import integers
from workspaces.conversations.facts import ChannelReference

Key = tuple[int, int]

# Our last message may have got the network's time since `last_message_at` was written.
FIND = """
SELECT conversation.id, conversation.channel_id, conversation.contact_id, conversation.workspace_id,
    conversation.status, conversation.read_up_to, coalesce(last.provider_time, conversation.last_message_at)
FROM conversations_conversation conversation
JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted (channel_id, contact_id) USING (channel_id, contact_id)
LEFT JOIN conversations_message last ON last.id = conversation.last_message
ORDER BY conversation.id FOR NO KEY UPDATE OF conversation
"""
OPEN = """
INSERT INTO conversations_conversation (uuid, workspace_id, channel_id, contact_id, status, unread_count,
    last_message_direction, last_message_preview, created_at, updated_at)
SELECT gen_random_uuid(), workspace_id, channel_id, contact_id, 'open', 0, '', '', %s, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS new (workspace_id, channel_id, contact_id)
ORDER BY channel_id, contact_id
ON CONFLICT (channel_id, contact_id) DO NOTHING RETURNING id
"""
RESERVE = "SELECT nextval('conversations_conversation_id_seq') FROM generate_series(1, %s)"


@dataclass(slots=True)
class LockedConversation:
    """A conversation's state when its row was locked. `is_new` means that it has just been opened.

    A conversation that `is_unwritten` has an id but no row yet. It is inserted once, with the changes of its messages.
    """

    id: int
    channel_id: int
    contact_id: int
    workspace_id: int
    status: str = "open"
    read_up_to: datetime | None = None
    last_message_at: datetime | None = None
    is_new: bool = False
    is_unwritten: bool = False


def lock_conversations(keys: Collection[Key]) -> dict[Key, LockedConversation]:
    """Lock the existing conversations of these channels and contacts, in the order of their ids."""
    if not keys:
        return {}
    channels, contacts = zip(*keys, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(FIND, [integers(channels), integers(contacts)])
        found = [LockedConversation(*row) for row in cursor.fetchall()]
    return {(one.channel_id, one.contact_id): one for one in found}


def open_conversations(
    wanted: Mapping[Key, ChannelReference], *, now: datetime, strangers: Collection[int] = ()
) -> dict[Key, LockedConversation]:
    """Lock the conversation of each of these channels and contacts, and open the missing ones.

    A reader that opens the same conversation at the same time gets the same row. `strangers` are contacts created in
    this transaction, which nobody else sees. Their conversations only get ids here, and `apply_activities` inserts
    them.
    """
    found = _reserved({key: channel for key, channel in wanted.items() if key[1] in strangers})
    found |= lock_conversations([key for key in wanted if key not in found])
    missing = [(key, channel) for key, channel in wanted.items() if key not in found]
    if missing:
        opened = set(_open(missing, now))
        for key, one in lock_conversations([key for key, _ in missing]).items():
            one.is_new = one.id in opened
            found[key] = one
    return found


def _reserved(wanted: Mapping[Key, ChannelReference]) -> dict[Key, LockedConversation]:
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(RESERVE, [len(wanted)])
        numbers = [row[0] for row in cursor.fetchall()]
    return {
        key: LockedConversation(number, *key, channel.workspace_id, is_new=True, is_unwritten=True)
        for number, (key, channel) in zip(numbers, wanted.items(), strict=True)
    }


def _open(missing: Iterable[tuple[Key, ChannelReference]], now: datetime) -> list[int]:
    rows = [(channel.workspace_id, *key) for key, channel in missing]
    columns: list[Any] = [integers(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(OPEN, [now, now, *columns])
        return [row[0] for row in cursor.fetchall()]
