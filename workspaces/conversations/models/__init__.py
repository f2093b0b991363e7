"""Models of conversations and messages, with the queues of messages to send and files to fetch."""

from workspaces.conversations.models.conversations import Conversation, ConversationCount, ConversationSettings, Note
from workspaces.conversations.models.messages import MediaFetch, Message
from workspaces.conversations.models.parked import ParkedChange
from workspaces.conversations.models.queue import QueuedMessage, ReadMark
from workspaces.conversations.models.saved_replies import SavedReply

__all__ = [
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
