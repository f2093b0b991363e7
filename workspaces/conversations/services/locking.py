"""The row of a conversation, held until the transaction ends."""

from workspaces.conversations.models import Conversation
from workspaces.conversations.services.errors import ConversationNotFound


def lock_conversation(conversation: Conversation) -> Conversation:
    """Read a conversation anew, with what it shows, and hold it. Raises `ConversationNotFound` where it has gone."""
    rows = Conversation.objects.select_related("workspace", "channel", "contact", "assigned_to")
    locked = rows.select_for_update(of=("self",), no_key=True).filter(pk=conversation.pk).first()
    if locked is None:
        raise ConversationNotFound
    return locked
