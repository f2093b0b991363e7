"""Inserts an outgoing message and its row in the sender's queue, in one transaction."""

from datetime import datetime

from agency.actors import Actor
from config.celery import wake_up
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import Direction, Status
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.outbound.content import WrittenContent

# The name by which the sender is woken up.
SENDER = "sender"


def queue_message(
    *, conversation: Conversation, content: WrittenContent, agency_id: int, by: Actor, now: datetime
) -> Message:
    """Insert a message to send and wake up the sender. The caller's transaction holds the conversation's lock."""
    message = Message.objects.create(
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation=conversation,
        direction=Direction.OUT,
        type=content.type,
        text=content.text,
        template=content.template,
        media=content.media,
        status=Status.PENDING,
        sent_by_kind=by.kind,
        sent_by_label=by.label,
        provider_time=now,
        created_at=now,
    )
    QueuedMessage.objects.create(
        message=message,
        agency_id=agency_id,
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation_id=conversation.pk,
        due_at=now,
    )
    _show_as_last(conversation, message, now)
    announce_changes([(conversation.workspace_id, conversation.pk)])
    wake_up(SENDER)
    return message


def _show_as_last(conversation: Conversation, message: Message, now: datetime) -> None:
    conversation.updated_at = now
    changed = ["updated_at"]
    if conversation.last_message_at is None or conversation.last_message_at <= message.provider_time:
        conversation.last_message, conversation.last_message_uuid = message.pk, message.uuid
        conversation.last_message_at = message.provider_time
        conversation.last_message_direction, conversation.last_message_type = message.direction, message.type
        conversation.last_message_preview = message.text[:LONGEST_PREVIEW]
        changed += [
            "last_message",
            "last_message_uuid",
            "last_message_at",
            "last_message_direction",
            "last_message_type",
            "last_message_preview",
        ]
    conversation.save(update_fields=changed)
