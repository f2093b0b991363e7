"""Retention of messages and notes. After a removal, conversations show the newest remaining message."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils.timezone import now

from config.postgresql.arrays import integers, timestamps
from config.retention import ExpiredRows, RetentionRule
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.media_use import remove_media_of_messages

KEPT = timedelta(days=settings.MESSAGES_KEPT_DAYS)
BATCH = 1_000
MESSAGES = ExpiredRows("conversations_message", "created_at", KEPT)
# Deletes those of the lowest ids that are past their retention. Rows that are locked now wait for the next run.
FORGET = """
WITH old AS MATERIALIZED (
    SELECT id FROM conversations_message WHERE id = ANY (ARRAY (
        SELECT id FROM (SELECT id, created_at FROM conversations_message ORDER BY id LIMIT %(batch)s) AS oldest
        WHERE created_at < statement_timestamp() - make_interval(secs => %(kept)s)))
    ORDER BY id FOR UPDATE SKIP LOCKED
), fetches AS (
    DELETE FROM conversations_mediafetch WHERE message_id IN (SELECT id FROM old)
), queued AS (
    DELETE FROM conversations_queuedmessage WHERE message_id IN (SELECT id FROM old)
)
DELETE FROM conversations_message WHERE id IN (SELECT id FROM old)
RETURNING id, conversation_id, media_id, direction = 'in', provider_time
"""
# If a conversation has lost its last message, the newest remaining one takes its place. There may be none.
SHOW = """
UPDATE conversations_conversation AS conversation
SET last_message = newest.id, last_message_uuid = newest.uuid, last_message_at = newest.provider_time,
    last_message_direction = coalesce(newest.direction, ''), last_message_type = coalesce(newest.type, ''),
    last_message_preview = left(coalesce(newest.text, ''), %s)
FROM (
    SELECT id FROM conversations_conversation WHERE last_message = ANY (%s::bigint[]) AND id = ANY (%s::bigint[])
    ORDER BY id FOR NO KEY UPDATE
) AS held
LEFT JOIN LATERAL (
    SELECT * FROM conversations_message AS message WHERE message.conversation_id = held.id
    ORDER BY message.provider_time DESC, message.id DESC LIMIT 1
) AS newest ON true
WHERE conversation.id = held.id
"""
# Removed messages no longer count as unread.
COUNT = """
UPDATE conversations_conversation AS conversation
SET unread_count = greatest(0, conversation.unread_count - gone.unread)
FROM (
    SELECT conversation.id, count(*) AS unread
    FROM unnest(%s::bigint[], %s::timestamptz[]) AS gone (conversation_id, at)
    JOIN conversations_conversation AS conversation ON conversation.id = gone.conversation_id
    WHERE conversation.read_up_to IS NULL OR gone.at >= conversation.read_up_to
    GROUP BY conversation.id
) AS gone
WHERE conversation.id = gone.id AND conversation.unread_count > 0
"""

WORKSPACES = "SELECT workspace_id, id FROM conversations_conversation WHERE id = ANY (%s::bigint[])"

# The primary keys of a message, its conversation and its file, whether it is incoming, and the provider's time.
Gone = tuple[int, int, int | None, bool, datetime]


def forget_messages(batch: int = BATCH) -> int:
    """Remove a batch of old messages, and their files unless something else uses them. Return how many messages."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(FORGET, {"batch": batch, "kept": KEPT.total_seconds()})
            gone: Sequence[Gone] = cursor.fetchall()
            if gone:
                _show(cursor, gone)
        remove_media_of_messages([media for _, _, media, _, _ in gone], now=now())
    return len(gone)


def _show(cursor: Any, gone: Sequence[Gone]) -> None:
    conversations = sorted({row[1] for row in gone})
    cursor.execute(SHOW, [LONGEST_PREVIEW, integers([row[0] for row in gone]), integers(conversations)])
    received = [row for row in gone if row[3]]
    cursor.execute(COUNT, [integers([row[1] for row in received]), timestamps([row[4] for row in received])])
    cursor.execute(WORKSPACES, [integers(conversations)])
    announce_changes(cursor.fetchall())


NOTES = ExpiredRows("conversations_note", "created_at", KEPT)
RULES = (RetentionRule("messages", KEPT, forget_messages, MESSAGES.lag), NOTES.rule("notes"))
