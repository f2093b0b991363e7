"""Locks channels and conversations until the transaction ends."""

from collections.abc import Collection

from django.db import connection

from config.postgresql.concurrency import AdvisoryLock
from workspaces.contacts.services import ContactLockHandler
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.errors import ConversationNotFound

LOCK = """
SELECT pg_advisory_xact_lock(%s, channel.number)
FROM (SELECT number FROM unnest(%s::integer[]) AS asked (number) ORDER BY number) AS channel
"""


def lock_channels(channels: Collection[int]) -> None:
    """Lock channels, by primary key, until the transaction ends. Each channel has one callback reader at a time.

    A transaction locks all its channels at once, in one order and in its first statement, so readers do not deadlock.
    The next statement sees everything that the transaction before it committed.
    """
    numbers = sorted({number % 2**31 for number in channels})
    if numbers:
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [AdvisoryLock.CHANNEL_INBOX.value, numbers])


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock a conversation, then read it with its related rows. Raises `ConversationNotFound`.

    This takes two statements, because a join in the waiting one would still show the assignee from before the wait.
    """
    own = Conversation.objects.filter(pk=conversation.pk)
    if not own.select_for_update(no_key=True).values_list("pk", flat=True).first():
        raise ConversationNotFound
    return own.select_related("workspace", "channel", "contact", "assigned_to").get()


def lock_conversations_of(contacts: Collection[int]) -> None:
    """Lock contacts' conversations before the contacts, in the same order as callback readers do."""
    rows = Conversation.objects.filter(contact__in=contacts).order_by("pk").select_for_update()
    list(rows.values_list("pk"))


LOCK_HANDLER = ContactLockHandler("conversations", lock_conversations_of)
