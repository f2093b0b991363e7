"""Higher apps add what they have sent to a contact to the conversation: a registry of sources."""

from collections.abc import Callable
from dataclasses import dataclass

from config.hooks import Registry
from workspaces.conversations.models import Conversation


@dataclass(frozen=True, slots=True)
class ThreadSource:
    """How a higher app writes messages of its own into a conversation, and what became of those that stand there.

    `bring` is called before a thread is read: it takes a bounded number of statements, and changes nothing where there
    is nothing new.
    """

    name: str
    bring: Callable[[Conversation], None]


thread_sources = Registry[ThreadSource]("sources of threads")


def bring_messages(conversation: Conversation) -> None:
    """Bring into a conversation what is to be seen in it now."""
    for source in thread_sources:
        source.bring(conversation)
