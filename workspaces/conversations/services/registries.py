"""The registries by which higher apps hear of messages, comments and ended conversations, and what they are told."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from config.hooks import Registry
from workspaces.conversations.facts import ChannelReference

# Handlers get the beginning of a text. The whole text is in the message's row.
LONGEST_TOLD_TEXT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A new message of a contact. `details` are those of the network, with `story` and `referral` if there are any.

    `is_first` says that no earlier message of the contact is kept, on any channel. `opts_out` says that the message is
    a word or button that opts the contact out.
    """

    id: int
    channel: ChannelReference
    conversation_id: int
    contact_id: int
    type: str
    text: str
    payload: str
    details: Mapping[str, object]
    at: datetime
    is_first: bool = False
    opts_out: bool = False


@dataclass(frozen=True, slots=True)
class ReceivedMessageHandler:
    """A higher app's function that is told of all new messages of a batch, in the order of their times."""

    name: str
    receive: Callable[[Sequence[IncomingMessage], datetime], None]


received_message_handlers = Registry[ReceivedMessageHandler](
    "handlers of received messages",
    called="`receive_messages` calls each once for a batch of callbacks, after opt-outs were applied",
    transaction="the caller's, one for each batch",
    failure="rolls the batch back; its callbacks are read again in smaller batches, at last each alone",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMessage:
    """A message that people of the workspace sent: a member, an API key, or somebody in another app.

    `by_kind` and `by_label` are those of the `Actor`; for another app they are `elsewhere` and empty.
    """

    id: int
    workspace_id: int
    conversation_id: int
    by_kind: str
    by_label: str
    at: datetime


@dataclass(frozen=True, slots=True)
class OwnMessageHandler:
    """A higher app's function that is told of messages that people sent."""

    name: str
    sent: Callable[[Sequence[OwnMessage], datetime], None]


own_message_handlers = Registry[OwnMessageHandler](
    "handlers of own messages",
    called=(
        "`send_message` and its siblings call each for a message that a member or an API key sends, `record_echoes` "
        "once for a batch of messages from other apps"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingReferral:
    """A contact followed a link or an advertisement into an existing chat, without a message."""

    channel: ChannelReference
    conversation_id: int
    contact_id: int
    details: Mapping[str, object] = field(default_factory=dict)
    at: datetime


@dataclass(frozen=True, slots=True)
class ReferralHandler:
    """A higher app's function that is told of referrals."""

    name: str
    refer: Callable[[Sequence[IncomingReferral], datetime], None]


referral_handlers = Registry[ReferralHandler](
    "handlers of referrals",
    called="`open_windows` calls each once for a batch of callbacks",
    transaction="the caller's, one for each batch",
    failure="rolls the batch back; its callbacks are read again in smaller batches, at last each alone",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingComment:
    """A new comment of a person on a post, a reel, an advertisement or a live video of the account.

    `comment_id`, `parent_id` and `post_id` are the network's. `parent_id` is empty for a comment on the post itself.
    `conversation_id` is None if the person has no conversation on the channel yet.
    """

    id: int
    channel: ChannelReference
    contact_id: int
    conversation_id: int | None
    comment_id: str
    parent_id: str
    post_id: str
    text: str
    details: Mapping[str, object]
    at: datetime


@dataclass(frozen=True, slots=True)
class ReceivedCommentHandler:
    """A higher app's function that is told of all new comments of a batch, in the order of their times."""

    name: str
    receive: Callable[[Sequence[IncomingComment], datetime], None]


received_comment_handlers = Registry[ReceivedCommentHandler](
    "handlers of received comments",
    called="`receive_comments` calls each once for a batch of callbacks",
    transaction="the caller's, one for each batch",
    failure="rolls the batch back; its callbacks are read again in smaller batches, at last each alone",
)


@dataclass(frozen=True, slots=True)
class EndedConversationHandler:
    """A higher app's function that is told of conversations, by primary key, that were closed or removed.

    It maps each to the conversation that it was joined to, or to None.
    """

    name: str
    end: Callable[[Mapping[int, int | None]], None]


ended_conversation_handlers = Registry[EndedConversationHandler](
    "handlers of ended conversations",
    called=(
        "`change_conversation` calls each when a conversation is closed, `remove_conversations` and a merge of "
        "contacts when conversations are removed, under their locks"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


def end_conversations(conversations: Collection[int], *, joined_to: int | None = None) -> None:
    """Tell higher apps that these conversations were closed or removed, or joined to another one."""
    ended = dict.fromkeys(conversations, joined_to)
    for handler in ended_conversation_handlers if ended else ():
        handler.end(ended)


def tell_own_messages(messages: Sequence[OwnMessage], *, now: datetime) -> None:
    """Tell higher apps that people of the workspace sent these messages."""
    if messages:
        for handler in own_message_handlers:
            handler.sent(messages, now)
