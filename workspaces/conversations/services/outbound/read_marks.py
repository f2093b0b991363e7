"""Queues read receipts for contacts, on networks that have them. Each is sent at most once."""

from config.celery import wake_up
from workspaces.conversations.models import Conversation, ReadMark
from workspaces.conversations.services.outbound.content import RULES
from workspaces.conversations.services.outbound.queueing import SENDER
from workspaces.subaccounts.models import Channel


def queue_read_mark(*, conversation: Conversation) -> None:
    """Queue a read receipt. The caller's transaction holds the conversation's lock."""
    channel = conversation.channel
    if channel.platform not in RULES or channel.status != Channel.Status.ACTIVE:
        return
    mark = ReadMark(conversation_id=conversation.pk, agency_id=conversation.workspace.agency_id, channel_id=channel.pk)
    # An existing mark is updated, which locks it. So the sender takes it only after this transaction has committed.
    ReadMark.objects.bulk_create(
        [mark], update_conflicts=True, unique_fields=["conversation_id"], update_fields=["channel_id"]
    )
    wake_up(SENDER)
