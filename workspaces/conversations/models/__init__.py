"""Models of conversations, messages and comments, with the queues of messages to send and files to fetch."""

from workspaces.conversations.models.conversations import (
    ComposerSettings,
    Conversation,
    ConversationCount,
    ConversationSettings,
    Note,
    SavedReply,
)
from workspaces.conversations.models.messages import Comment, MediaFetch, Message, ParkedChange, QueuedMessage, ReadMark

__all__ = [
    "Comment",
    "ComposerSettings",
    "Conversation",
    "ConversationCount",
    "ConversationSettings",
    "MediaFetch",
    "Message",
    "Note",
    "ParkedChange",
    "QueuedMessage",
    "ReadMark",
    "SavedReply",
]
