"""The registry of what higher apps say about a conversation and its messages in the inbox."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from config.hooks import Registry
from workspaces.conversations.models import Conversation


@dataclass(frozen=True, slots=True)
class MessageRemark:
    """A sentence in small print under a message, with the address of a page about it, if there is one."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ConversationBanner:
    """A sentence above a thread, with a button that posts to `url`."""

    text: str
    action: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadAddition:
    """What a higher app adds to a thread. Both functions take a bounded number of statements.

    `remarks` gives remarks by the primary keys of incoming messages. `banner` gives a banner, or None.
    """

    name: str
    remarks: Callable[[Collection[int]], Mapping[int, MessageRemark]]
    banner: Callable[[Conversation], ConversationBanner | None]


thread_additions = Registry[ThreadAddition](
    "additions to a thread",
    called="`remarks_on` and `banners_of` call each when the inbox shows a conversation",
    transaction="none",
    failure="the page answers 500",
)


def remarks_on(messages: Collection[int]) -> dict[int, MessageRemark]:
    """Give one remark for each message that has one. The first app's counts."""
    remarks: dict[int, MessageRemark] = {}
    for addition in thread_additions if messages else ():
        remarks = {**addition.remarks(messages), **remarks}
    return remarks


def banners_of(conversation: Conversation) -> list[ConversationBanner]:
    return [banner for addition in thread_additions if (banner := addition.banner(conversation)) is not None]
