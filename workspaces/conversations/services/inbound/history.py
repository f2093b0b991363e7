"""Stores messages from before a connection, which a network hands over with the chat history.

Nobody is told of them: they open no window, count as unread nowhere, start nothing and cause no events.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection

from config.postgresql.arrays import booleans, integers, texts, timestamps, uuids
from workspaces.conversations.facts import PastMessage, storable, storable_json
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import LONGEST_PROVIDER_ID
from workspaces.conversations.services.conversations import announce_changes
from workspaces.conversations.services.inbound.changes import apply_parked_changes
from workspaces.conversations.services.inbound.conversations import LockedConversation, conversations_of_people
from workspaces.conversations.services.inbound.messages import (
    NO_DETAILS,
    ConversationUpdate,
    NewMessage,
    updates_for,
    write_files,
)

# One callback may bring thousands.
MOST_AT_ONCE: Final = 500
# The network's name of a message whose file comes later.
PLACEHOLDER: Final = "media_placeholder"
FAILED_ON_PHONE: Final = "failed_on_phone"

# Only a message without its content is filled in.
FILL = """
UPDATE conversations_message message SET type = told.type, text = told.text, details = told.details::jsonb
FROM (
    SELECT message.id, told.* FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[])
        WITH ORDINALITY AS told (channel_id, message_id, type, text, details, number)
    JOIN conversations_message message
        ON message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
    WHERE message.type = 'unsupported' AND message.details ->> 'unsupported' = %s AND message.removed_at IS NULL
    ORDER BY message.id FOR NO KEY UPDATE OF message
) AS told
WHERE message.id = told.id
RETURNING told.number - 1, message.id, message.uuid, message.conversation_id, message.workspace_id,
    message.direction, message.provider_time
"""
# The last message's preview, where that message was filled in.
PREVIEW = """
UPDATE conversations_conversation conversation
SET last_message_type = message.type, last_message_preview = left(message.text, %s)
FROM (
    SELECT conversation.id FROM conversations_conversation conversation
    WHERE conversation.id = ANY (%s::bigint[]) ORDER BY conversation.id FOR NO KEY UPDATE
) AS held, conversations_message message
WHERE conversation.id = held.id AND conversation.last_message = message.id AND message.id = ANY (%s::bigint[])
"""
# `created_at` is when a message was written: today's statistics leave it out. It is deleted once its time is over and
# the messages that were stored before it are gone.
INSERT = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, details,
    status, error_code, error_message, provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time,
    created_at, sent_at)
SELECT gen_random_uuid(), new.workspace_id, new.channel_id, new.conversation_id, new.direction, new.type, new.text,
    new.details::jsonb, new.status, CASE WHEN new.status = 'failed' THEN %(code)s END, NULL, new.message_id,
    new.direction = 'out', '', '', new.at, new.at,
    CASE WHEN new.direction = 'out' AND new.status <> 'failed' THEN new.at END
FROM unnest(%(workspaces)s::bigint[], %(channels)s::bigint[], %(conversations)s::bigint[], %(directions)s::text[],
    %(types)s::text[], %(texts)s::text[], %(details)s::text[], %(statuses)s::text[], %(ids)s::text[],
    %(times)s::timestamptz[])
    AS new (workspace_id, channel_id, conversation_id, direction, type, text, details, status, message_id, at)
ON CONFLICT (channel_id, provider_message_id) WHERE provider_message_id IS NOT NULL DO NOTHING
RETURNING channel_id, provider_message_id, id, uuid
"""
# A conversation that the history opens is closed at once and stands where its last message belongs, so that the inbox
# shows no old chats as work to do.
UPDATE_CONVERSATIONS = """
UPDATE conversations_conversation conversation
SET status = CASE WHEN change.is_new THEN 'closed' ELSE conversation.status END,
    last_message = coalesce(change.last_message, conversation.last_message),
    last_message_uuid = coalesce(change.last_uuid, conversation.last_message_uuid),
    last_message_at = coalesce(change.last_at, conversation.last_message_at),
    last_message_direction = coalesce(change.last_direction, conversation.last_message_direction),
    last_message_type = coalesce(change.last_type, conversation.last_message_type),
    last_message_preview = coalesce(change.last_preview, conversation.last_message_preview),
    updated_at = CASE WHEN change.is_new THEN coalesce(change.last_at, conversation.updated_at)
        ELSE greatest(conversation.updated_at, change.last_at) END
FROM unnest(%s::bigint[], %s::boolean[], %s::bigint[], %s::uuid[], %s::timestamptz[], %s::text[], %s::text[],
    %s::text[]) AS change (id, is_new, last_message, last_uuid, last_at, last_direction, last_type, last_preview)
WHERE conversation.id = change.id
"""


def record_past_messages(facts: Sequence[PastMessage], *, now: datetime) -> int:
    """Store messages of the history, each once, with its direction, time and status. Return how many were new."""
    new = 0
    for first in range(0, len(facts), MOST_AT_ONCE):
        batch = facts[first : first + MOST_AT_ONCE]
        filled = _fill(batch, now)
        new += _insert([fact for number, fact in enumerate(batch) if number not in filled], now)
    return new


def _fill(facts: Sequence[PastMessage], now: datetime) -> set[int]:
    """Give messages whose content was missing their content. Return the facts' numbers."""
    whole = [(number, fact) for number, fact in enumerate(facts) if not _is_placeholder(fact)]
    if not whole:
        return set()
    told = [fact for _, fact in whole]
    columns = [
        integers([fact.channel.id for fact in told]),
        texts([_id(fact) for fact in told]),
        texts([fact.type for fact in told]),
        texts([storable(fact.text) for fact in told]),
        texts([_details(fact) for fact in told]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FILL, [*columns, PLACEHOLDER])
        rows = cursor.fetchall()
        filled = [(whole[row[0]], _filled(whole[row[0]][1], *row[1:])) for row in rows]
        if filled:
            conversations, messages = zip(*((one.conversation.id, one.id) for _, one in filled), strict=True)
            cursor.execute(PREVIEW, [LONGEST_PREVIEW, integers(sorted(set(conversations))), integers(messages)])
    write_files([(message, fact.file) for (_, fact), message in filled if fact.file], now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for _, one in filled)
    return {number for (number, _), _ in filled}


def _filled(
    fact: PastMessage, id: int, uuid: UUID, conversation: int, workspace: int, direction: str, at: datetime
) -> NewMessage:
    held = LockedConversation(conversation, fact.channel.id, 0, workspace)
    return NewMessage(id, uuid, held, direction, fact.type, fact.text, at)


def _insert(facts: Sequence[PastMessage], now: datetime) -> int:
    """Insert the messages that are not known yet, and update their conversations."""
    threads = conversations_of_people(facts, now=now, are_inbound=False, are_past=True)
    once: dict[tuple[int, str], tuple[PastMessage, LockedConversation]] = {}
    for fact, conversation in threads:
        once.setdefault((conversation.channel_id, _id(fact)), (fact, conversation))
    ordered = sorted(once.values(), key=lambda one: one[0].at)
    if not ordered:
        return 0
    written = {(one.conversation.channel_id, name): one for name, one in _write(ordered, once)}
    updates = updates_for([conversation for _, conversation in ordered])
    for message in written.values():
        updates[message.conversation.id].add_past(message)
    _update(list(updates.values()))
    files = [(one, once[key][0].file) for key, one in written.items()]
    write_files([(message, file) for message, file in files if file is not None], now=now)
    apply_parked_changes(written, now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for one in written.values())
    return len(written)


def _write(
    ordered: Sequence[tuple[PastMessage, LockedConversation]],
    once: dict[tuple[int, str], tuple[PastMessage, LockedConversation]],
) -> Iterable[tuple[str, NewMessage]]:
    told, held = [fact for fact, _ in ordered], [conversation for _, conversation in ordered]
    values = {
        "code": FAILED_ON_PHONE,
        "workspaces": integers([one.workspace_id for one in held]),
        "channels": integers([one.channel_id for one in held]),
        "conversations": integers([one.id for one in held]),
        "directions": texts([fact.direction for fact in told]),
        "types": texts([fact.type for fact in told]),
        "texts": texts([storable(fact.text) for fact in told]),
        "details": texts([_details(fact) for fact in told]),
        "statuses": texts([fact.status for fact in told]),
        "ids": texts([_id(fact) for fact in told]),
        "times": timestamps([fact.at for fact in told]),
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        rows = cursor.fetchall()
    for channel, name, number, uuid in rows:
        fact, conversation = once[channel, name]
        yield name, NewMessage(number, uuid, conversation, fact.direction, fact.type, storable(fact.text), fact.at)


def _update(updates: list[ConversationUpdate]) -> None:
    last = [one.last for one in updates]
    columns = [
        integers([one.conversation.id for one in updates]),
        booleans([one.conversation.is_new for one in updates]),
        integers([one.id if one else None for one in last]),
        uuids([one.uuid if one else None for one in last]),
        timestamps([one.at if one else None for one in last]),
        texts([one.direction if one else None for one in last]),
        texts([one.type if one else None for one in last]),
        texts([one.text[:LONGEST_PREVIEW] if one else None for one in last]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE_CONVERSATIONS, columns)


def _is_placeholder(fact: PastMessage) -> bool:
    return fact.details.get("unsupported") == PLACEHOLDER


def _id(fact: PastMessage) -> str:
    return storable(fact.message_id)[:LONGEST_PROVIDER_ID]


def _details(fact: PastMessage) -> str:
    return storable_json(fact.details) if fact.details else NO_DETAILS
