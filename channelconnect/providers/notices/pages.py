"""Reads the entries of Messenger and Instagram, and the contents of their messages."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from channelconnect.providers.notices.comments import Change, read_change
from channelconnect.providers.notices.events import ProviderEvent, ReadContext, Unknown
from channelconnect.providers.notices.values import (
    LONGEST_ID,
    LONGEST_MESSAGE,
    FactOrigin,
    address,
    drop_empty,
    moment,
    truncate_json,
)
from channelconnect.providers.parsing import Row, ident, row, rows, text, texts
from workspaces.conversations.facts import (
    MOST_FILES,
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
    ReceivedFile,
    StatusChanged,
    id_of_file,
)

FILES: Final = {"image": "image", "video": "video", "audio": "audio", "file": "document", "sticker": "sticker"}
# These are shown as a link, because posts and reels stay at the network.
SHARED: Final = {"share", "post", "reel", "ig_reel", "ig_post", "fallback", "template", "product"}
HEART: Final = "❤️"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """A message's content in the form of `MessageReceived`. `others` are further files, each a message."""

    type: str
    text: str = ""
    file: ReceivedFile | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    others: "tuple[PageContent, ...]" = ()


def read_page_content(message: Row, event: Row) -> PageContent:
    """Return a message's content. Content that the network hides from us is unsupported."""
    written = text(message.get("text"), LONGEST_MESSAGE)
    attachments = rows(message.get("attachments"))[:MOST_FILES]
    if message.get("is_unsupported") is True or not (written or attachments):
        content = PageContent(type="unsupported", text=written, details={"unsupported": "unknown"})
    elif attachments:
        content = _attached(attachments, written)
    else:
        content = PageContent(type="text", text=written)
    around = _surroundings(message, event)
    if not around:
        return content
    return replace(content, details={**content.details, **around})


def _surroundings(message: Row, event: Row) -> dict[str, object]:
    """Return the message or story that this one answers, and the referral that brought the person here."""
    reply = row(message.get("reply_to"))
    story = row(reply.get("story"))
    told = drop_empty(id=text(story.get("id"), LONGEST_ID), url=address(story.get("url")))
    return drop_empty(
        reply_to=text(reply.get("mid"), LONGEST_ID),
        story=drop_empty(kind="reply" if told else "", **told),
        referral=truncate_json(row(message.get("referral")) or row(event.get("referral"))),
    )


def _attached(attachments: list[Row], written: str) -> PageContent:
    """Return the first attachment with the text. Further files become `others`; other attachments go into `details`."""
    first, *others = attachments
    content = _attachment(first, written)
    files = tuple(_attachment(other, "") for other in others if _kind(other) in FILES)
    more = [drop_empty(type=_kind(other), url=_address(other)) for other in others if _kind(other) not in FILES]
    return replace(content, details={**content.details, **drop_empty(attachments=more)}, others=files)


def _attachment(attachment: Row, written: str) -> PageContent:
    kind = _kind(attachment)
    if kind in FILES:
        return PageContent(type=FILES[kind], text=written, file=_file(attachment))
    if kind == "story_mention":
        return _mention(attachment, written)
    if kind == "location":
        return _location(attachment, written)
    if kind == "like_heart":
        return PageContent(type="text", text=written or HEART)
    if kind in SHARED:
        return _shared(attachment, kind, written)
    return PageContent(type="unsupported", text=written, details={"unsupported": kind or "unknown"})


def _kind(attachment: Row) -> str:
    """A sticker is an image with a sticker id beside its address."""
    kind = text(attachment.get("type"))
    is_sticker = kind == "image" and row(attachment.get("payload")).get("sticker_id") is not None
    return "sticker" if is_sticker else kind


def _address(attachment: Row) -> str:
    return address(row(attachment.get("payload")).get("url")) or address(attachment.get("url"))


def _file(attachment: Row) -> ReceivedFile | None:
    reference = _address(attachment)
    return ReceivedFile(reference=reference) if reference else None


def _mention(attachment: Row, written: str) -> PageContent:
    """A story that mentions the account may be shown while it exists, but not stored."""
    url = _address(attachment)
    file = ReceivedFile(reference=url, may_be_kept=False) if url else None
    return PageContent(type="image", text=written, file=file, details={"story": drop_empty(kind="mention", url=url)})


def _location(attachment: Row, written: str) -> PageContent:
    payload = row(attachment.get("payload"))
    place = row(payload.get("coordinates"))
    title = text(attachment.get("title")) or text(payload.get("title"))
    found = drop_empty(latitude=truncate_json(place.get("lat")), longitude=truncate_json(place.get("long")), name=title)
    return PageContent(type="location", text=written or title, details={"location": found})


def _shared(attachment: Row, kind: str, written: str) -> PageContent:
    """A post, a reel or a link. Its title and address become the text if the person wrote none."""
    title = text(attachment.get("title")) or text(row(attachment.get("payload")).get("title"))
    url = _address(attachment)
    shown = written or "\n".join(filter(None, (title, url)))
    details = {"shared": drop_empty(type=kind, title=title, url=url)}
    if not shown:
        return PageContent(type="unsupported", details={"unsupported": kind})
    return PageContent(type="text", text=shown, details=details)


Fact = ConversationFact | ProviderEvent
LONGEST_PAYLOAD: Final = 1_000
MOST_DELIVERED: Final = 100
# Emojis for the provider's terms, used if a reaction comes without an emoji.
REACTIONS: Final = {"love": "❤️", "smile": "😆", "wow": "😮", "sad": "😢", "angry": "😠", "like": "👍", "dislike": "👎"}


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """An event in the thread between an account and a contact. `person` is the contact, whichever side acted."""

    event: Row
    channel: ChannelReference
    person: Person
    at: datetime

    @property
    def who(self) -> FactOrigin:
        return {"channel": self.channel, "person": self.person, "at": self.at}


def read_page_entry(entry: Row, platform: str, source: ReadContext) -> Iterator[Fact]:
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
        if channel is None:
            yield Unknown(platform=platform, account_id=account_id, kind="account")
            continue
        told = Change(channel, account_id, row(change.get("value")), told_at)
        yield from read_change(text(change.get("field")), told)


def _facts(event: Row, channel: ChannelReference, told_at: datetime) -> Iterator[Fact]:
    kind = next((name for name in READERS if name in event), "")
    if not kind:
        name = next((name for name in event if name not in ENDS), "")
        yield Unknown(platform=channel.platform, kind=text(name))
        return
    is_echo = row(event.get("message")).get("is_echo") is True
    person = ident(row(event.get("recipient" if is_echo else "sender")).get("id"))
    at = moment(event.get("timestamp")) or told_at
    facts = list(READERS[kind](ThreadEvent(event, channel, Person(external_id=person), at))) if person else []
    if not facts:
        yield Unknown(platform=channel.platform, kind=f"{kind}.nobody")
    yield from facts


def _message(told: ThreadEvent) -> Iterator[Fact]:
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


def _received(told: ThreadEvent, mid: str, message: Row, content: PageContent) -> MessageReceived:
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


def _echo(told: ThreadEvent, mid: str, message: Row, content: PageContent) -> EchoReceived:
    return EchoReceived(
        channel=told.channel,
        person=told.person,
        at=told.at,
        message_id=mid,
        type=content.type,
        text=content.text,
        file=content.file,
        details={**content.details, **drop_empty(app_id=ident(message.get("app_id")))},
        opaque=text(message.get("metadata"), LONGEST_ID),
    )


def _postback(told: ThreadEvent) -> Iterator[Fact]:
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
        details=drop_empty(referral=truncate_json(row(postback.get("referral")))),
    )


def _edit(told: ThreadEvent) -> Iterator[Fact]:
    edit = row(told.event.get("message_edit"))
    mid = text(edit.get("mid"), LONGEST_ID)
    if mid:
        yield MessageEdited(**told.who, message_id=mid, text=text(edit.get("text"), LONGEST_MESSAGE))


def _reaction(told: ThreadEvent) -> Iterator[Fact]:
    """Read a reaction. Without an emoji, the emoji of its term is used."""
    reaction = row(told.event.get("reaction"))
    mid, action = text(reaction.get("mid"), LONGEST_ID), text(reaction.get("action"))
    if not mid or action not in ("react", "unreact"):
        return
    sign = text(reaction.get("emoji"), 40) or REACTIONS.get(text(reaction.get("reaction")), "❤️")
    yield ReactionChanged(**told.who, message_id=mid, emoji=sign if action == "react" else "")


def _referral(told: ThreadEvent) -> Iterator[Fact]:
    referral = truncate_json(row(told.event.get("referral")))
    yield ConversationTouched(**told.who, kind="referral", details=drop_empty(referral=referral))


def _delivery(told: ThreadEvent) -> Iterator[Fact]:
    """Read a delivery. Messenger names the moment up to which all was delivered, or else the messages."""
    delivery = row(told.event.get("delivery"))
    up_to = moment(delivery.get("watermark"))
    if up_to:
        yield ReadUpTo(channel=told.channel, person=told.person, at=up_to, status="delivered")
        return
    for mid in texts(delivery.get("mids"))[:MOST_DELIVERED]:
        if found := text(mid, LONGEST_ID):
            yield StatusChanged(**told.who, message_id=found, status="delivered")


def _read(told: ThreadEvent) -> Iterator[Fact]:
    """Read a read mark. Messenger names a moment, Instagram a message."""
    seen = row(told.event.get("read"))
    up_to, mid = moment(seen.get("watermark")), text(seen.get("mid"), LONGEST_ID)
    if mid:
        yield ReadUpTo(**told.who, status="read", message_id=mid)
    elif up_to:
        yield ReadUpTo(channel=told.channel, person=told.person, at=up_to, status="read")


ENDS: Final = {"sender", "recipient", "timestamp"}
READERS: Final[dict[str, Callable[[ThreadEvent], Iterator[Fact]]]] = {
    "message": _message,
    "message_edit": _edit,
    "postback": _postback,
    "reaction": _reaction,
    "delivery": _delivery,
    "read": _read,
    "referral": _referral,
}
