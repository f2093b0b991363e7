"""Conversations and messages with what is shown of them, in one statement each."""

from django.db.models import QuerySet

from workspaces.conversations.models import Conversation, Message


def shown_conversations(rows: "QuerySet[Conversation]") -> "QuerySet[Conversation]":
    """Join what a conversation shows beside its own columns."""
    return rows.select_related("channel", "contact", "assigned_to")


def shown_messages(rows: "QuerySet[Message]") -> "QuerySet[Message]":
    """Join what a message shows beside its own columns."""
    return rows.select_related("conversation__contact", "media", "fetch")
