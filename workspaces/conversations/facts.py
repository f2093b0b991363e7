"""What networks tell about conversations, in the product's words: what readers of callbacks give to the services.

Each fact names its channel and may come twice, late, and in any order; `at` is the provider's time. The services that
take them get any number at once and apply each of them once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReference:
    """A channel with its workspace and agency, as far as facts need them."""

    id: int
    platform: str
    workspace_id: int
    workspace_uuid: UUID
    agency_id: int
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who it is on the channel: the network's id, WhatsApp's business-scoped `user_id`, or both.

    `phone` is E.164 where the network has told it. A person with neither id is nobody, and nothing is taken of them.
    """

    external_id: str = ""
    user_id: str = ""
    phone: str = ""
    name: str = ""
    username: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFact:
    """`person` is the contact's side, also of what we sent."""

    channel: ChannelReference
    person: Person
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A file of a message: `reference` is WhatsApp's media id or an address; `may_be_kept` is false for stories."""

    reference: str
    content_type: str = ""
    sha256: str = ""
    filename: str = ""
    may_be_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived(ConversationFact):
    """A person wrote, or pressed a button. `type` is one of `Message.type`, `text` its text, caption or title.

    `payload` is that of the button that was pressed. `details` goes into `Message.details`: a location, cards, a
    reply's `reply_to` (the provider's id of another message), a `referral`, `unsupported` (the network's name for it).
    """

    message_id: str
    type: str
    text: str = ""
    payload: str = ""
    file: ReceivedFile | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


# Networks that give several files one id together give no more than these.
MOST_FILES = 10
FILE_SEPARATOR = "#"


def id_of_file(message_id: str, number: int) -> str:
    """Give the id under which a message's further file (2, 3, …) is a message of its own."""
    return f"{message_id}{FILE_SEPARATOR}{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoReceived(MessageReceived):
    """A message left through the account, ours or another app's; `opaque` is what ours carried along."""

    opaque: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited(ConversationFact):
    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRemoved(ConversationFact):
    """A person took a message back: its content goes, and its further files with it."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionChanged(ConversationFact):
    """A person reacted to a message, which may not be known; an empty `emoji` takes it back."""

    message_id: str
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTouched(ConversationFact):
    """A person did something that opens the window without writing: a call, a referral."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChanged(ConversationFact):
    """A message of ours moved on: `status` is sent, delivered, read or failed (played is read).

    Found by the provider's id, else by `opaque`, as a status may come before the answer to the call.
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
    """A person has received or read (`status`) all of ours up to `at`, or, with `message_id`, up to that one."""

    status: str
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityChanged(ConversationFact):
    """A person has another id now; `person` is who they were, `becomes` who they are."""

    becomes: Person


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketingPreferenceChanged(ConversationFact):
    """A person told the network that they want no marketing of this account, or want it again."""

    wants_marketing: bool
