"""Contacts are told that what they wrote was read, where their network has marks for it: once, if it can be done."""

from config.celery import wake_up
from workspaces.conversations.models import Conversation, ReadMark
from workspaces.conversations.services.outbound.content import RULES
from workspaces.conversations.services.outbound.queueing import SENDER
from workspaces.subaccounts.models import Channel


def queue_read_mark(*, conversation: Conversation) -> None:
    """Have the sender tell a conversation's contact, in the transaction that holds the conversation locked."""
    channel = conversation.channel
    if channel.platform not in RULES or channel.status != Channel.Status.ACTIVE:
        return
    mark = ReadMark(conversation_id=conversation.pk, agency_id=conversation.workspace.agency_id, channel_id=channel.pk)
    # One that is there is written again, which locks it: the sender takes it when what was read now is committed.
    ReadMark.objects.bulk_create(
        [mark], update_conflicts=True, unique_fields=["conversation_id"], update_fields=["channel_id"]
    )
    wake_up(SENDER)
