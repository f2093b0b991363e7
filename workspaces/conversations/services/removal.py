"""Removes old messages with their files and old comments, and removes or moves those of a contact along with it."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Exists, OuterRef
from django.utils.timezone import now

from config.postgresql.arrays import integers, timestamps
from config.retention import ExpiredRows, RetentionRule
from workspaces.contacts.services import ContactRemovalHandler
from workspaces.contacts.services.contacts import ContactMergeHandler
from workspaces.conversations.models import Comment, Conversation, Message, Note, QueuedMessage
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.conversations import announce_changes
from workspaces.conversations.services.registries import end_conversations
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import MediaUse, remove_unneeded_media

BATCH = 1_000


def message_needing(media: Media) -> str | None:
    """Return a name for a queued message that needs the file, or None. A sent message does not need it."""
    waiting = QueuedMessage.objects.filter(message__media=media)
    return "a message that is still to be sent" if waiting.exists() else None


def media_in_messages(media: MediaQuerySet) -> MediaQuerySet:
    """Keep the files that belong to a message."""
    return media.filter(Exists(Message.objects.filter(media=OuterRef("pk"))))


def remove_media_of_messages(media: Collection[int | None], *, now: datetime) -> None:
    """Remove the files of removed or emptied messages, unless something else needs them."""
    ids = sorted({one for one in media if one is not None})
    for start in range(0, len(ids), BATCH):
        remove_unneeded_media(media=ids[start : start + BATCH], now=now)


MEDIA_USE = MediaUse("messages", message_needing, media_in_messages)


KEPT = timedelta(days=settings.MESSAGES_KEPT_DAYS)
MESSAGES = ExpiredRows("conversations_message", "created_at", KEPT)
# Deletes those of the lowest ids that are past their retention. Rows that are locked now wait for the next run.
DELETE_OLD_MESSAGES = """
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
UPDATE_LAST_MESSAGES = """
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
UPDATE_UNREAD_COUNTS = """
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

FIND_WORKSPACES = "SELECT workspace_id, id FROM conversations_conversation WHERE id = ANY (%s::bigint[])"

# The primary keys of a message, its conversation and its file, whether it is incoming, and the provider's time.
RemovedMessage = tuple[int, int, int | None, bool, datetime]


def forget_messages(batch: int = BATCH) -> int:
    """Remove a batch of old messages, and their files unless something else uses them. Return how many messages."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(DELETE_OLD_MESSAGES, {"batch": batch, "kept": KEPT.total_seconds()})
            gone: Sequence[RemovedMessage] = cursor.fetchall()
            if gone:
                _update_conversations(cursor, gone)
        remove_media_of_messages([media for _, _, media, _, _ in gone], now=now())
    return len(gone)


def _update_conversations(cursor: CursorWrapper, gone: Sequence[RemovedMessage]) -> None:
    conversations = sorted({row[1] for row in gone})
    cursor.execute(UPDATE_LAST_MESSAGES, [LONGEST_PREVIEW, integers([row[0] for row in gone]), integers(conversations)])
    received = [row for row in gone if row[3]]
    cursor.execute(
        UPDATE_UNREAD_COUNTS, [integers([row[1] for row in received]), timestamps([row[4] for row in received])]
    )
    cursor.execute(FIND_WORKSPACES, [integers(conversations)])
    announce_changes(cursor.fetchall())


NOTES = ExpiredRows("conversations_note", "created_at", KEPT)
COMMENTS = ExpiredRows("conversations_comment", "created_at", KEPT)
RETENTION_RULES = (
    RetentionRule("messages", KEPT, forget_messages, MESSAGES.lag),
    NOTES.rule("notes"),
    COMMENTS.rule("comments"),
)


# The columns about the last message.
LAST = (
    "last_message",
    "last_message_uuid",
    "last_message_at",
    "last_message_direction",
    "last_message_type",
    "last_message_preview",
)
NEWEST = ("last_inbound_at", "read_up_to", "contact_received_up_to", "contact_read_up_to", "updated_at")


def move_conversations(kept: int, gone: int) -> None:
    """Move the conversations and comments of the contact `gone` to `kept`, in the merge's transaction.

    Two conversations on one channel become one.
    """
    Comment.objects.filter(contact=gone).update(contact=kept)
    rows = Conversation.objects.filter(contact__in=(kept, gone)).order_by("pk").select_for_update()
    held: Sequence[Conversation] = list(rows)
    changed = [(one.workspace_id, one.pk) for one in held]
    own = {one.channel_id: one for one in held if one.contact_id == kept}
    for other in (one for one in held if one.contact_id == gone):
        if other.channel_id in own:
            _join(own[other.channel_id], other)
        else:
            other.contact_id = kept
            other.save(update_fields=["contact"])
    announce_changes(changed)


def _join(kept: Conversation, other: Conversation) -> None:
    """Merge `other` into `kept` with all messages and notes. The result is open if either was."""
    Message.objects.filter(conversation=other).update(conversation=kept)
    Note.objects.filter(conversation=other).update(conversation=kept)
    QueuedMessage.objects.filter(conversation_id=other.pk).update(conversation_id=kept.pk)
    if other.status == Conversation.Status.OPEN:
        kept.status = Conversation.Status.OPEN
    kept.snoozed_until = None
    kept.assigned_to_id = kept.assigned_to_id or other.assigned_to_id
    kept.unread_count += other.unread_count
    if _is_later(other, kept):
        for name in LAST:
            setattr(kept, name, getattr(other, name))
    for name in NEWEST:
        known = [moment for moment in (getattr(kept, name), getattr(other, name)) if moment is not None]
        setattr(kept, name, max(known, default=None))
    kept.save()
    end_conversations([other.pk], joined_to=kept.pk)
    other.delete()


def _is_later(other: Conversation, kept: Conversation) -> bool:
    """Return whether the last message of `other` is the newer one. At equal times the higher id counts."""
    if other.last_message_at is None or kept.last_message_at is None:
        return other.last_message_at is not None
    return (other.last_message_at, other.last_message or 0) > (kept.last_message_at, kept.last_message or 0)


MERGE_HANDLER = ContactMergeHandler(name="conversations", move=move_conversations)


REMOVE = (
    "DELETE FROM conversations_queuedmessage WHERE conversation_id = ANY (%s::bigint[])",
    """DELETE FROM conversations_mediafetch
    WHERE message_id IN (SELECT id FROM conversations_message WHERE conversation_id = ANY (%s::bigint[]))""",
    "DELETE FROM conversations_note WHERE conversation_id = ANY (%s::bigint[])",
)
REMOVE_MESSAGES = """
WITH gone AS (DELETE FROM conversations_message WHERE conversation_id = ANY (%s::bigint[]) RETURNING media_id)
SELECT DISTINCT media_id FROM gone WHERE media_id IS NOT NULL ORDER BY media_id
"""
REMOVE_CONVERSATIONS = "DELETE FROM conversations_conversation WHERE id = ANY (%s::bigint[])"


def remove_conversations(contact: int) -> None:
    """Remove a contact's conversations with their messages and notes. The caller holds the contact's lock.

    The messages' files are removed too, unless something else uses them. Django removes comments with their contact.
    """
    rows = Conversation.objects.filter(contact=contact).order_by("pk").select_for_update()
    held = dict(rows.values_list("pk", "workspace_id"))
    if not held:
        return
    announce_changes((workspace, conversation) for conversation, workspace in held.items())
    end_conversations(held)
    ids = integers(list(held))
    with connection.cursor() as cursor:
        for statement in REMOVE:
            cursor.execute(statement, [ids])
        cursor.execute(REMOVE_MESSAGES, [ids])
        media = [row[0] for row in cursor.fetchall()]
        cursor.execute(REMOVE_CONVERSATIONS, [ids])
    remove_media_of_messages(media, now=now())


REMOVAL_HANDLER = ContactRemovalHandler("conversations", remove_conversations)
