"""Removes a removed contact's conversations with one statement for each table, as there may be very many messages."""

from django.db import connection
from django.utils.timezone import now

from config.postgresql.arrays import integers
from workspaces.contacts.services import ContactRemovalHandler
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.media_use import remove_media_of_messages

REMOVE = (
    "DELETE FROM conversations_queuedmessage WHERE conversation_id = ANY (%s::bigint[])",
    """DELETE FROM conversations_mediafetch
    WHERE message_id IN (SELECT id FROM conversations_message WHERE conversation_id = ANY (%s::bigint[]))""",
    "DELETE FROM conversations_note WHERE conversation_id = ANY (%s::bigint[])",
)
REMOVE_MESSAGES = """
WITH gone AS (DELETE FROM conversations_message WHERE conversation_id = ANY (%s::bigint[]) RETURNING media_id)
SELECT DISTINCT media_id FROM gone WHERE media_id IS NOT NULL ORDER BY media_id
"""
REMOVE_CONVERSATIONS = "DELETE FROM conversations_conversation WHERE id = ANY (%s::bigint[])"


def remove_conversations(contact: int) -> None:
    """Remove a contact's conversations with their messages and notes. The caller holds the contact's lock.

    The messages' files are removed too, unless something else uses them.
    """
    rows = Conversation.objects.filter(contact=contact).order_by("pk").select_for_update()
    held = dict(rows.values_list("pk", "workspace_id"))
    if not held:
        return
    announce_changes((workspace, conversation) for conversation, workspace in held.items())
    ids = integers(list(held))
    with connection.cursor() as cursor:
        for statement in REMOVE:
            cursor.execute(statement, [ids])
        cursor.execute(REMOVE_MESSAGES, [ids])
        media = [row[0] for row in cursor.fetchall()]
        cursor.execute(REMOVE_CONVERSATIONS, [ids])
    remove_media_of_messages(media, now=now())


REMOVAL_HANDLER = ContactRemovalHandler("conversations", remove_conversations)
