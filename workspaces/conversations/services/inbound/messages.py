"""Inserts many messages at once, each one once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from config.postgresql.arrays import booleans, integers, texts, timestamps
from workspaces.conversations.facts import ReceivedFile
from workspaces.conversations.models.messages import LONGEST_PROVIDER_ID
from workspaces.conversations.services.inbound.activity import NewMessage
from workspaces.conversations.services.inbound.conversations import LockedConversation
from workspaces.conversations.services.texts import storable, storable_json

INSERT = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, details,
    status, provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at, sent_at)
SELECT gen_random_uuid(), new.workspace_id, new.channel_id, new.conversation_id, %(direction)s, new.type, new.text,
    new.details::jsonb, %(status)s, new.message_id, %(elsewhere)s, '', '', new.at, %(now)s,
    CASE WHEN %(elsewhere)s THEN new.at END
FROM unnest(%(workspaces)s::bigint[], %(channels)s::bigint[], %(conversations)s::bigint[], %(types)s::text[],
    %(texts)s::text[], %(details)s::text[], %(ids)s::text[], %(times)s::timestamptz[])
    AS new (workspace_id, channel_id, conversation_id, type, text, details, message_id, at)
ON CONFLICT (channel_id, provider_message_id) WHERE provider_message_id IS NOT NULL DO NOTHING
RETURNING channel_id, provider_message_id, id, uuid
"""
FILES = """
INSERT INTO conversations_mediafetch (message_id, channel_id, reference, content_type, sha256, filename, status, fault,
    tries, due_at)
SELECT message_id, channel_id, reference, content_type, sha256, filename,
    CASE WHEN may_be_kept THEN 'pending' ELSE 'not_kept' END, '', 0, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::boolean[])
    AS new (message_id, channel_id, reference, content_type, sha256, filename, may_be_kept)
"""
NO_DETAILS = "{}"


@dataclass(slots=True)
class Draft:
    """A message that will be inserted unless its channel has a message with its id already."""

    conversation: LockedConversation
    message_id: str
    type: str
    text: str
    details: str
    at: datetime


def draft_of(
    conversation: LockedConversation, message_id: str, type: str, text: str, details: object, at: datetime
) -> Draft:
    """Make a draft of a network's message, without characters that cannot be stored."""
    written = storable_json(details) if details else NO_DETAILS
    return Draft(conversation, storable(message_id)[:LONGEST_PROVIDER_ID], type, storable(text), written, at)


def write_messages(drafts: Sequence[Draft], *, direction: str, now: datetime) -> dict[tuple[int, str], NewMessage]:
    """Insert the new messages by time, then in the drafts' order. Return them by channel and provider's id.

    The first draft of a message counts.
    """
    once: dict[tuple[int, str], Draft] = {}
    for draft in drafts:
        once.setdefault((draft.conversation.channel_id, draft.message_id), draft)
    ordered = sorted(once.values(), key=lambda one: one.at)
    if not ordered:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(INSERT, _values(ordered, direction, now))
        rows: list[tuple[int, str, int, UUID]] = cursor.fetchall()
    return {
        (channel, message): _new(once[channel, message], number, uuid, direction)
        for channel, message, number, uuid in rows
    }


def _values(drafts: Sequence[Draft], direction: str, now: datetime) -> dict[str, Any]:
    conversations = [one.conversation for one in drafts]
    return {
        "now": now,
        "direction": direction,
        "status": "received" if direction == "in" else "sent",
        "elsewhere": direction == "out",
        "workspaces": integers([one.workspace_id for one in conversations]),
        "channels": integers([one.channel_id for one in conversations]),
        "conversations": integers([one.id for one in conversations]),
        "types": texts([one.type for one in drafts]),
        "texts": texts([one.text for one in drafts]),
        "details": texts([one.details for one in drafts]),
        "ids": texts([one.message_id for one in drafts]),
        "times": timestamps([one.at for one in drafts]),
    }


def _new(draft: Draft, id: int, uuid: UUID, direction: str) -> NewMessage:
    return NewMessage(id, uuid, draft.conversation, direction, draft.type, draft.text, draft.at)


def write_files(files: Sequence[tuple[NewMessage, ReceivedFile]], *, now: datetime) -> None:
    """Queue files to be fetched. A file that may not be kept is recorded but never fetched."""
    if not files:
        return
    some = [file for _, file in files]
    columns = [
        integers([message.id for message, _ in files]),
        integers([message.conversation.channel_id for message, _ in files]),
        texts([storable(file.reference)[:4_096] for file in some]),
        texts([storable(file.content_type)[:200] for file in some]),
        texts([storable(file.sha256)[:100] for file in some]),
        texts([storable(file.filename)[:300] for file in some]),
        booleans([file.may_be_kept for file in some]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FILES, [now, *columns])
