"""The networks' events about conversations, in one form for all networks. Callback readers pass them to the services.

Each fact names its channel. It may come twice, late and in any order; `at` is the provider's time. The services
accept any number of facts at once and apply each one once.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReference:
    """The parts of a channel, its workspace and its agency that facts need."""

    id: int
    platform: str
    workspace_id: int
    workspace_uuid: UUID
    agency_id: int
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person on a channel, with the network's id, WhatsApp's business-scoped `user_id`, or both.

    `phone` is E.164, if the network reports it. Facts about a person without any id are ignored.
    """

    external_id: str = ""
    user_id: str = ""
    phone: str = ""
    name: str = ""
    username: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFact:
    """A network's event about a conversation. `person` is always the contact, also for messages that we sent."""

    channel: ChannelReference
    person: Person
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A message's file. `reference` is WhatsApp's media id or a URL. `may_be_kept` is False for stories."""

    reference: str
    content_type: str = ""
    sha256: str = ""
    filename: str = ""
    may_be_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived(ConversationFact):
    """A person sent a message or pressed a button. `type` is a `Message.type`, `text` a text, caption or button title.

    `payload` belongs to the pressed button. `details` becomes `Message.details`: a location, contact cards, a reply's
    `reply_to` (the provider's id of another message), a `referral`, or `unsupported` (the network's name of the type).
    """

    message_id: str
    type: str
    text: str = ""
    payload: str = ""
    file: ReceivedFile | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


# A network that sends several files under one message id sends at most this many.
MOST_FILES = 10
FILE_SEPARATOR = "#"


def id_of_file(message_id: str, number: int) -> str:
    """Return the message id for a message's further file (2, 3, …), which is stored as a separate message."""
    return f"{message_id}{FILE_SEPARATOR}{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoReceived(MessageReceived):
    """The account sent a message, through us or another app. `opaque` is the id that our messages carry."""

    opaque: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMessage(MessageReceived):
    """A message from before the connection, which a network hands over with the chat history.

    `direction` is a `Message.direction`, and `status` a `Message.status` that fits it. A message with a file may come
    twice: first without its content (`unsupported` is `media_placeholder`), then with it. `person` has no id if the
    network does not say whose chat it is; such a message only fills in what came first.
    """

    direction: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactListed(ConversationFact):
    """A person is in the address book of the account's phone, under the person's `name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited(ConversationFact):
    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRemoved(ConversationFact):
    """A person deleted a message. Its content and its further files are removed."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionChanged(ConversationFact):
    """A person reacted to a message, which may be unknown to us. An empty `emoji` removes the reaction."""

    message_id: str
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTouched(ConversationFact):
    """A person opened the 24-hour window without a message: `kind` is call or referral.

    `details` holds the network's `referral`: the link or advertisement that the person followed.
    """

    kind: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChanged(ConversationFact):
    """The status of a message that we sent: sent, delivered, read or failed ("played" counts as read).

    The message is found by the provider's id, else by `opaque`: a status may come before the answer to the call.
    """

    message_id: str
    status: str
    opaque: str = ""
    error_code: str = ""
    error_message: str = ""
    is_billable: bool | None = None
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadUpTo(ConversationFact):
    """A person has received or read (`status`) all our messages up to `at` or, if given, up to `message_id`."""

    status: str
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityChanged(ConversationFact):
    """A person's id has changed. `person` has the old id, `becomes` the new one."""

    becomes: Person


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketingPreferenceChanged(ConversationFact):
    """A person told the network whether they want this account's marketing."""

    wants_marketing: bool


# Facebook takes comments of 8,000 characters, Instagram of 2,200.
LONGEST_COMMENT = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentReceived(ConversationFact):
    """A person commented on a post of the account.

    `parent_id` is the network's id of the comment that this one answers; it is empty for a comment on the post itself.
    `details` holds the post's `permalink`, the `media` product (feed, reels, live …) and the `ad`, if they are known.
    """

    comment_id: str
    post_id: str
    parent_id: str = ""
    text: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentEdited(ConversationFact):
    comment_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentRemoved(ConversationFact):
    """A comment was deleted. `person` may have no id: the comment is found by its own."""

    comment_id: str


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# An escaped NUL in JSON, unless its backslash is itself escaped.
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# A lone surrogate in ASCII-only JSON: a high one without a low one after it, or the reverse.
LONE_SURROGATE = re.compile(
    r"(?i)(?:\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2})"
)
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Replace characters that the database cannot store."""
    return UNSTORABLE.sub(REPLACEMENT, text)


def storable_json(value: object) -> str:
    """Dump a value as JSON without characters that the database cannot store."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate, which orjson refuses and the json module accepts
        text = orjson.dumps(orjson.loads(LONE_SURROGATE.sub(REPLACEMENT, json.dumps(value)))).decode()
    return ESCAPED_NUL.sub(rf"\g<1>{REPLACEMENT}", text) if "\\u0000" in text else text
