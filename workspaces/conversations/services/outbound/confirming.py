"""Confirms an opt-out by message to the contact, who gets no further message after it."""

from collections.abc import Sequence
from datetime import datetime

from agency.actors import SYSTEM
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.messages import Type
from workspaces.conversations.services.listing import shown_conversations
from workspaces.conversations.services.outbound.composing import can_be_reached, is_window_open
from workspaces.conversations.services.outbound.content import RULES, WrittenContent
from workspaces.conversations.services.outbound.queueing import queue_message
from workspaces.subaccounts.models import Channel

CONFIRMATION = "You will get no more messages from {name}. Write START if you change your mind."


def confirm_opt_outs(conversations: Sequence[int], *, now: datetime) -> None:
    """Queue a confirmation in each of these conversations where free text can be sent."""
    rows = Conversation.objects.filter(pk__in=conversations).select_related("workspace").order_by("pk")
    for conversation in shown_conversations(rows):
        channel = conversation.channel
        is_sendable = channel.platform in RULES and channel.status == Channel.Status.ACTIVE
        if is_sendable and is_window_open(conversation, now) and can_be_reached(conversation.contact, channel):
            text = CONFIRMATION.format(name=conversation.workspace.name)
            content = WrittenContent(Type.TEXT, text)
            agency = conversation.workspace.agency_id
            queue_message(conversation=conversation, content=content, agency_id=agency, by=SYSTEM, now=now)
