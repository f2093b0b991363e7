"""Channels and the rows of conversations, held until the transaction ends."""

from collections.abc import Collection

from django.db import connection

from config.postgresql.advisory_locks import AdvisoryLock
from workspaces.contacts.services import ContactLockHandler
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.errors import ConversationNotFound

LOCK = """
SELECT pg_advisory_xact_lock(%s, channel.number)
FROM (SELECT number FROM unnest(%s::integer[]) AS asked (number) ORDER BY number) AS channel
"""


def lock_channels(channels: Collection[int]) -> None:
    """Hold channels by their numbers until the transaction ends: one reader at a time for each.

    A transaction takes all of its channels at once, as its first statement, and in one order, so that readers wait in a
    line. Statements of another transaction are seen by the next statement: a reader that waited here sees all that its
    predecessor did.
    """
    numbers = sorted({number % 2**31 for number in channels})
    if numbers:
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [AdvisoryLock.CHANNEL_INBOX.value, numbers])


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
