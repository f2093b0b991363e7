"""A registry by which higher apps add their messages to a contact's conversation."""

from collections.abc import Callable
from dataclasses import dataclass

from config.hooks import Registry
from workspaces.conversations.models import Conversation


@dataclass(frozen=True, slots=True)
class ThreadSource:
    """A higher app's function that adds its messages to a conversation and updates their statuses.

    `bring` is called before a thread is read. It takes a bounded number of statements and changes nothing if nothing
    is new.
    """

    name: str
    bring: Callable[[Conversation], None]


thread_sources = Registry[ThreadSource](
    "sources of threads",
    called="`bring_messages` calls each before a page or the API reads a conversation's messages",
    transaction="the caller's, if there is one; a source opens its own within",
    failure="the page or the API answers 500",
)


def bring_messages(conversation: Conversation) -> None:
    """Let all sources update a conversation's messages."""
    for source in thread_sources:
        source.bring(conversation)
