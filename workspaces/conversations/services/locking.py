"""The row of a conversation, held until the transaction ends."""

from workspaces.conversations.models import Conversation
from workspaces.conversations.services.errors import ConversationNotFound


def lock_conversation(conversation: Conversation) -> Conversation:
    """Hold a conversation, then read it with what it shows. Raises `ConversationNotFound` where it has gone.

    In two statements: a join in the one that waits would still show the holder of before the wait.
    """
    own = Conversation.objects.filter(pk=conversation.pk)
    if not own.select_for_update(no_key=True).values_list("pk", flat=True).first():
        raise ConversationNotFound
    return own.select_related("workspace", "channel", "contact", "assigned_to").get()
