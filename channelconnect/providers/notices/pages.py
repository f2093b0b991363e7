"""Reads the entries of Messenger and Instagram."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from channelconnect.providers.graph.parsing import Row, ident, row, rows, text, texts
from channelconnect.providers.notices.accounts import Source
from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.page_messages import PageContent, read_page_content
from channelconnect.providers.notices.values import LONGEST_ID, LONGEST_MESSAGE, bounded, moment, present
from workspaces.conversations.facts import (
    ChannelReference,
    ConversationFact,
    ConversationTouched,
    EchoReceived,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    Person,
    ReactionChanged,
    ReadUpTo,
    StatusChanged,
    id_of_file,
)

Fact = ConversationFact | ProviderEvent
LONGEST_PAYLOAD: Final = 1_000
MOST_DELIVERED: Final = 100
# Emojis for the provider's terms, used if a reaction comes without an emoji.
REACTIONS: Final = {"love": "❤️", "smile": "😆", "wow": "😮", "sad": "😢", "angry": "😠", "like": "👍", "dislike": "👎"}


@dataclass(frozen=True, slots=True)
class Told:
    """An event in the thread between the account and a person. `person` is always the contact, whoever acted."""

    event: Row
    channel: ChannelReference
    person: Person
    at: datetime

    @property
    def who(self) -> dict[str, Any]:
        return {"channel": self.channel, "person": self.person, "at": self.at}


def read_page_entry(entry: Row, platform: str, source: Source) -> Iterator[Fact]:
    """Yield the facts of a Page's or an Instagram account's entry, also those that another app handles (`standby`)."""
    account_id = ident(entry.get("id"))
    channel = source.channels.get((platform, account_id))
    told_at = moment(entry.get("time")) or source.came_at
    events = [*rows(entry.get("messaging")), *rows(entry.get("standby"))]
    for event in events:
        if channel is None:
            yield Unknown(platform=platform, account_id=account_id, kind="account")
            continue
        yield from _facts(event, channel, told_at)
    for change in rows(entry.get("changes")):
        yield Unknown(platform=platform, account_id=account_id, kind=text(change.get("field")))


def _facts(event: Row, channel: ChannelReference, told_at: datetime) -> Iterator[Fact]:
    kind = next((name for name in READERS if name in event), "")
    if not kind:
        name = next((name for name in event if name not in ENDS), "")
        yield Unknown(platform=channel.platform, kind=text(name))
        return
    is_echo = row(event.get("message")).get("is_echo") is True
    person = ident(row(event.get("recipient" if is_echo else "sender")).get("id"))
    at = moment(event.get("timestamp")) or told_at
    facts = list(READERS[kind](Told(event, channel, Person(external_id=person), at))) if person else []
    if not facts:
        yield Unknown(platform=channel.platform, kind=f"{kind}.nobody")
    yield from facts


def _message(told: Told) -> Iterator[Fact]:
    """Read a message. A message without an id is a note of the network, not a person's."""
    message = row(told.event.get("message"))
    mid = text(message.get("mid"), LONGEST_ID)
    if not mid:
        return
    if message.get("is_deleted") is True:
        yield MessageRemoved(**told.who, message_id=mid)
        return
    content = read_page_content(message, told.event)
    if message.get("is_echo") is True:
        first: MessageReceived = _echo(told, mid, message, content)
    else:
        first = _received(told, mid, message, content)
    yield first
    for number, other in enumerate(content.others, 2):
        yield replace(
            first, message_id=id_of_file(mid, number), type=other.type, text="", payload="", file=other.file, details={}
        )


def _received(told: Told, mid: str, message: Row, content: PageContent) -> MessageReceived:
    payload = text(row(message.get("quick_reply")).get("payload"), LONGEST_PAYLOAD)
    return MessageReceived(
        channel=told.channel,
        person=told.person,
        at=told.at,
        message_id=mid,
        type="interactive" if payload else content.type,
        text=content.text,
        payload=payload,
        file=content.file,
        details=content.details,
    )


def _echo(told: Told, mid: str, message: Row, content: PageContent) -> EchoReceived:
    return EchoReceived(
        channel=told.channel,
        person=told.person,
        at=told.at,
        message_id=mid,
        type=content.type,
        text=content.text,
        file=content.file,
        details={**content.details, **present(app_id=ident(message.get("app_id")))},
        opaque=text(message.get("metadata"), LONGEST_ID),
    )


def _postback(told: Told) -> Iterator[Fact]:
    """Read a pressed button. In `standby` its payload is missing."""
    postback = row(told.event.get("postback"))
    mid = text(postback.get("mid"), LONGEST_ID)
    if not mid:
        return
    yield MessageReceived(
        channel=told.channel,
        person=told.person,
        at=told.at,
        message_id=mid,
        type="interactive",
        text=text(postback.get("title"), LONGEST_MESSAGE),
        payload=text(postback.get("payload"), LONGEST_PAYLOAD),
        details=present(referral=bounded(row(postback.get("referral")))),
    )


def _edit(told: Told) -> Iterator[Fact]:
    edit = row(told.event.get("message_edit"))
    mid = text(edit.get("mid"), LONGEST_ID)
    if mid:
        yield MessageEdited(**told.who, message_id=mid, text=text(edit.get("text"), LONGEST_MESSAGE))


def _reaction(told: Told) -> Iterator[Fact]:
    """Read a reaction. Without an emoji, the emoji of its term is used."""
    reaction = row(told.event.get("reaction"))
    mid, action = text(reaction.get("mid"), LONGEST_ID), text(reaction.get("action"))
    if not mid or action not in ("react", "unreact"):
        return
    sign = text(reaction.get("emoji"), 40) or REACTIONS.get(text(reaction.get("reaction")), "❤️")
    yield ReactionChanged(**told.who, message_id=mid, emoji=sign if action == "react" else "")


def _referral(told: Told) -> Iterator[Fact]:
    yield ConversationTouched(**told.who, kind="referral")


def _delivery(told: Told) -> Iterator[Fact]:
    """Read a delivery. Messenger names the moment up to which all was delivered, or else the messages."""
    delivery = row(told.event.get("delivery"))
    up_to = moment(delivery.get("watermark"))
    if up_to:
        yield ReadUpTo(channel=told.channel, person=told.person, at=up_to, status="delivered")
        return
    for mid in texts(delivery.get("mids"))[:MOST_DELIVERED]:
        if found := text(mid, LONGEST_ID):
            yield StatusChanged(**told.who, message_id=found, status="delivered")


def _read(told: Told) -> Iterator[Fact]:
    """Read a read mark. Messenger names a moment, Instagram a message."""
    seen = row(told.event.get("read"))
    up_to, mid = moment(seen.get("watermark")), text(seen.get("mid"), LONGEST_ID)
    if mid:
        yield ReadUpTo(**told.who, status="read", message_id=mid)
    elif up_to:
        yield ReadUpTo(channel=told.channel, person=told.person, at=up_to, status="read")


ENDS: Final = {"sender", "recipient", "timestamp"}
READERS: Final[dict[str, Callable[[Told], Iterator[Fact]]]] = {
    "message": _message,
    "message_edit": _edit,
    "postback": _postback,
    "reaction": _reaction,
    "delivery": _delivery,
    "read": _read,
    "referral": _referral,
}
