"""The rows of conversations, held until the transaction ends."""

from collections.abc import Collection

from workspaces.contacts.services import ContactLockHandler
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


def lock_conversations_of(contacts: Collection[int]) -> None:
    """Hold contacts' conversations before the contacts, as those do who take in what a contact writes."""
    rows = Conversation.objects.filter(contact__in=contacts).order_by("pk").select_for_update()
    list(rows.values_list("pk"))


LOCK_HANDLER = ContactLockHandler("conversations", lock_conversations_of)
