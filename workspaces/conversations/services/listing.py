"""Conversations and messages with what is shown of them, in one statement each."""

from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import MessageQuerySet
from workspaces.media.models.media import unread_of_workspace


def shown_conversations(rows: ConversationQuerySet) -> ConversationQuerySet:
    """Join what a conversation shows beside its own columns."""
    return rows.select_related("channel", "contact", "assigned_to")


def shown_messages(rows: MessageQuerySet) -> MessageQuerySet:
    """Join what a message shows beside its own columns."""
    shown = rows.select_related("conversation__contact", "media__workspace", "fetch")
    return shown.defer(*unread_of_workspace("media__workspace"))
