"""What contacts change of messages that are there: edits, messages taken back, reactions."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection

from config.leases.arrays import integers, moments, texts
from workspaces.conversations.facts import MessageEdited, MessageRemoved, ReactionChanged
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.media_use import remove_media_of_messages
from workspaces.conversations.services.texts import storable

# Reactions of contacts in these networks open the window, as messages do.
REACTIONS_OPEN_WINDOW = ["whatsapp", "facebook"]
LONGEST_EMOJI = 40

TARGETS = """
    SELECT message.id, message.conversation_id, message.workspace_id, message.media_id, told.*
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, message_id, text, at)
    JOIN conversations_message message
        ON message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
    ORDER BY message.id FOR NO KEY UPDATE OF message
"""
EDIT = f"""
WITH target AS ({TARGETS})
UPDATE conversations_message message SET text = target.text, edited_at = target.at
FROM target
WHERE message.id = target.id AND message.removed_at IS NULL
    AND (message.edited_at IS NULL OR message.edited_at <= target.at)
RETURNING message.workspace_id, message.conversation_id, message.id, NULL
"""  # noqa: S608  # texts of our own
REMOVE = f"""
WITH target AS ({TARGETS}), forgotten AS (
    DELETE FROM conversations_mediafetch WHERE message_id IN (SELECT id FROM target)
)
UPDATE conversations_message message
SET text = '', details = '{{}}', reactions = '[]', template = NULL, media_id = NULL, removed_at = target.at
FROM target WHERE message.id = target.id AND message.removed_at IS NULL
RETURNING message.workspace_id, message.conversation_id, message.id, target.media_id
"""  # noqa: S608  # texts of our own
# A contact has one reaction to a message; one that was taken back stays as an empty one, so that an older one that
# comes late does not bring it back.
REACT = f"""
WITH target AS ({TARGETS})
UPDATE conversations_message message
SET reactions = (
    SELECT coalesce(jsonb_agg(kept), '[]') FROM jsonb_array_elements(message.reactions) AS kept
    WHERE kept ->> 'by' <> 'contact'
) || jsonb_build_array(jsonb_build_object('by', 'contact', 'emoji', target.text, 'at', target.at))
FROM target
WHERE message.id = target.id AND message.removed_at IS NULL AND NOT EXISTS (
    SELECT FROM jsonb_array_elements(message.reactions) AS known
    WHERE known ->> 'by' = 'contact' AND (known ->> 'at')::timestamptz > target.at)
RETURNING message.workspace_id, message.conversation_id, message.id, NULL
"""  # noqa: S608  # texts of our own
PREVIEW = """
UPDATE conversations_conversation conversation SET last_message_preview = left(message.text, %s), updated_at = %s
FROM (
    SELECT conversation.id FROM conversations_conversation conversation
    WHERE conversation.id = ANY (%s::bigint[]) ORDER BY conversation.id FOR NO KEY UPDATE
) AS held, conversations_message message
WHERE conversation.id = held.id AND conversation.last_message = message.id AND message.id = ANY (%s::bigint[])
"""
# A reaction opens the window where the network says so, as a message does.
TOUCH = """
UPDATE conversations_conversation conversation
SET last_inbound_at = greatest(conversation.last_inbound_at, reacted.at)
FROM (
    SELECT message.conversation_id AS id, max((reaction ->> 'at')::timestamptz) AS at
    FROM conversations_message message CROSS JOIN LATERAL jsonb_array_elements(message.reactions) AS reaction
    WHERE message.id = ANY (%s::bigint[]) AND reaction ->> 'by' = 'contact' AND reaction ->> 'emoji' <> ''
    GROUP BY message.conversation_id
) AS reacted, subaccounts_channel channel
WHERE conversation.id = reacted.id AND channel.id = conversation.channel_id AND channel.platform = ANY (%s)
"""

# The numbers of the workspace, the conversation and the message, and that of the file that it has lost.
Row = tuple[int, int, int, int | None]
Fact = TypeVar("Fact", MessageEdited, MessageRemoved, ReactionChanged)


def edit_messages(facts: Sequence[MessageEdited], *, now: datetime) -> int:
    """Replace texts by what their writers made of them, the newest of each; says how many changed."""
    changed = _change(EDIT, facts, [storable(fact.text) for fact in _newest(facts)])
    _show(changed, now)
    return len(changed)


def remove_messages(facts: Sequence[MessageRemoved], *, now: datetime) -> int:
    """Empty messages that were taken back: text, file, what they carried, reactions; says how many.

    Their files are gone with them, unless something else shows or needs them.
    """
    changed = _change(REMOVE, facts, [""] * len(_newest(facts)))
    _show(changed, now)
    remove_media_of_messages([row[3] for row in changed], now=now)
    return len(changed)


def change_reactions(facts: Sequence[ReactionChanged], *, now: datetime) -> int:
    """Keep contacts' reactions with their messages; those to unknown messages are nobody's. Says how many changed."""
    newest = _newest(facts)
    changed = _change(REACT, facts, [storable(fact.emoji)[:LONGEST_EMOJI] for fact in newest])
    if changed:
        with connection.cursor() as cursor:
            cursor.execute(TOUCH, [integers([row[2] for row in changed]), REACTIONS_OPEN_WINDOW])
    announce_changes((workspace, conversation) for workspace, conversation, *_ in changed)
    return len(changed)


def _newest(facts: Sequence[Fact]) -> list[Fact]:
    """Give the last fact about each message: a statement changes a row once."""
    ordered = sorted(facts, key=lambda fact: fact.at)
    return list({(fact.channel.id, fact.message_id): fact for fact in ordered}.values())


def _change(statement: str, facts: Sequence[Fact], written: Iterable[str]) -> list[Row]:
    newest: list[Any] = _newest(facts)
    if not newest:
        return []
    columns = [
        integers([fact.channel.id for fact in newest]),
        texts([storable(fact.message_id) for fact in newest]),
        texts(written),
        moments([fact.at for fact in newest]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, columns)
        rows: list[Row] = cursor.fetchall()
    return rows


def _show(changed: Sequence[Row], now: datetime) -> None:
    """Show in lists what has become of a conversation's last message."""
    if not changed:
        return
    conversations = integers(sorted({row[1] for row in changed}))
    with connection.cursor() as cursor:
        cursor.execute(PREVIEW, [LONGEST_PREVIEW, now, conversations, integers([row[2] for row in changed])])
    announce_changes((workspace, conversation) for workspace, conversation, *_ in changed)
