"""Reads the messages that people send over WhatsApp, and their changes of earlier messages."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from channelconnect.providers.graph.parsing import Row, row, text
from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.people import Contacts, whatsapp_person
from channelconnect.providers.notices.values import LONGEST_ID, bounded, moment, present
from channelconnect.providers.notices.whatsapp_contents import CONTENTS, Content, unsupported
from workspaces.conversations.facts import (
    ChannelReference,
    ConversationFact,
    IdentityChanged,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    Person,
    ReactionChanged,
)

Fact = ConversationFact | ProviderEvent
GROUP: Final = Unknown(platform="whatsapp", kind="group")


@dataclass(frozen=True, slots=True)
class Sent:
    """A received message with its sender, channel and time."""

    message: Row
    channel: ChannelReference
    person: Person
    at: datetime

    @property
    def id(self) -> str:
        return text(self.message.get("id"), LONGEST_ID)

    @property
    def content(self) -> Row:
        """The object under the name of the message's type."""
        return row(self.message.get(text(self.message.get("type"))))

    @property
    def who(self) -> dict[str, Any]:
        return {"channel": self.channel, "person": self.person, "at": self.at}


def read_message(message: Row, channel: ChannelReference, contacts: Contacts, at: datetime) -> Fact | None:
    """Return a message as a fact: a new message, or a change of an earlier one; None if it names nobody."""
    if message.get("group_id"):
        return GROUP
    person = contacts.person(message.get("from"), message.get("from_user_id"))
    if person is None:
        return None
    sent = Sent(message, channel, person, moment(message.get("timestamp")) or at)
    read = CHANGES.get(text(message.get("type")), _new)
    return read(sent)


def _new(sent: Sent) -> Fact | None:
    if not sent.id:
        return None
    content = read_content(sent.message)
    return MessageReceived(
        channel=sent.channel,
        person=sent.person,
        at=sent.at,
        message_id=sent.id,
        type=content.type,
        text=content.text,
        payload=content.payload,
        file=content.file,
        details={**content.details, **_surroundings(sent.message)},
    )


def read_content(message: Row) -> Content:
    """Return a message's content. An unknown type is unsupported, under its own name."""
    return CONTENTS.get(text(message.get("type")), unsupported)(message)


def _surroundings(message: Row) -> dict[str, Any]:
    """Return the message that this one answers, and the advertisement that it came from."""
    if "context" not in message and "referral" not in message:
        return {}
    context = row(message.get("context"))
    return present(
        reply_to=text(context.get("id"), LONGEST_ID),
        forwarded=context.get("forwarded") is True or context.get("frequently_forwarded") is True or None,
        referred_product=bounded(row(context.get("referred_product"))),
        referral=bounded(row(message.get("referral"))),
    )


def _reaction(sent: Sent) -> Fact | None:
    """Read a reaction. Without an emoji it removes an earlier reaction."""
    target = text(sent.content.get("message_id"), LONGEST_ID)
    return ReactionChanged(**sent.who, message_id=target, emoji=text(sent.content.get("emoji"), 40)) if target else None


def _edit(sent: Sent) -> Fact | None:
    """Read an edit. Without a target or a text it is kept as a message that cannot be shown."""
    target = text(sent.content.get("original_message_id"), LONGEST_ID)
    edited = row(sent.content.get("message"))
    if not target or not edited:
        return _new(sent)
    return MessageEdited(**sent.who, message_id=target, text=read_content(edited).text)


def _revoke(sent: Sent) -> Fact | None:
    target = text(sent.content.get("original_message_id"), LONGEST_ID)
    return MessageRemoved(**sent.who, message_id=target) if target else None


def _system(sent: Sent) -> Fact | None:
    """Read a change of a person's number or business-scoped id. The new number is in one of two fields."""
    what, kind = sent.content, text(sent.content.get("type"))
    if kind not in MOVES:
        return Unknown(platform="whatsapp", kind=f"system.{kind}")
    numbers = (what.get("wa_id") or what.get("new_wa_id")) if kind != "user_changed_user_id" else None
    becomes = whatsapp_person(numbers, what.get("user_id"))
    was = whatsapp_person(sent.person.external_id, what.get("previous_user_id") or sent.person.user_id)
    if becomes is None or was is None or becomes == was:
        return None
    return IdentityChanged(channel=sent.channel, person=was, at=sent.at, becomes=becomes)


MOVES: Final = {"user_changed_number", "customer_changed_number", "user_changed_user_id"}
CHANGES: Final[dict[str, Callable[[Sent], Fact | None]]] = {
    "reaction": _reaction,
    "edit": _edit,
    "revoke": _revoke,
    "system": _system,
}
