"""Reads the messages that people send over WhatsApp: their contents, and changes of earlier messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import orjson

from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.values import (
    LONGEST_ID,
    LONGEST_MESSAGE,
    Contacts,
    FactOrigin,
    drop_empty,
    error_of,
    moment,
    truncate_json,
    whatsapp_person,
)
from channelconnect.providers.parsing import Row, ident, row, rows, text
from workspaces.conversations.facts import (
    ChannelReference,
    ConversationFact,
    IdentityChanged,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    Person,
    ReactionChanged,
    ReceivedFile,
)

LONGEST_PAYLOAD: Final = 1_000
LONGEST_FLOW: Final = 100_000
MOST_CARDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A message's content in the form of `MessageReceived`."""

    type: str
    text: str = ""
    payload: str = ""
    file: ReceivedFile | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def _text(message: Row) -> Content:
    return Content(type="text", text=text(row(message.get("text")).get("body"), LONGEST_MESSAGE))


def _media(message: Row) -> Content:
    """Read a media message. Without a media id the file cannot be fetched, and the message has none."""
    kind = text(message.get("type"))
    media = row(message.get(kind))
    reference = ident(media.get("id"))
    file = ReceivedFile(
        reference=reference,
        content_type=text(media.get("mime_type")),
        sha256=text(media.get("sha256"), 100),
        filename=text(media.get("filename"), 300),
    )
    return Content(
        type=kind,
        text=text(media.get("caption"), LONGEST_MESSAGE),
        file=file if reference else None,
        details=drop_empty(voice=media.get("voice") is True or None, animated=media.get("animated") is True or None),
    )


def _location(message: Row) -> Content:
    place = row(message.get("location"))
    found = {name: truncate_json(place.get(name)) for name in ("latitude", "longitude", "name", "address", "url")}
    return Content(type="location", text=text(place.get("name")), details={"location": drop_empty(**found)})


def _contacts(message: Row) -> Content:
    cards = [truncate_json(card) for card in rows(message.get("contacts"))[:MOST_CARDS]]
    names = [text(row(card.get("name")).get("formatted_name")) for card in rows(message.get("contacts"))[:MOST_CARDS]]
    return Content(type="contacts", text=", ".join(filter(None, names)), details={"contacts": cards})


def _button(message: Row) -> Content:
    """Read a press of a template's button."""
    button = row(message.get("button"))
    return Content(
        type="interactive",
        text=text(button.get("text"), LONGEST_MESSAGE),
        payload=text(button.get("payload"), LONGEST_PAYLOAD),
    )


def _interactive(message: Row) -> Content:
    """Read a press of a button or a row of a list, or a completed form."""
    pressed = row(message.get("interactive"))
    if "nfm_reply" in pressed:
        return _form(row(pressed.get("nfm_reply")))
    reply = row(pressed.get("button_reply")) or row(pressed.get("list_reply"))
    kind = text(pressed.get("type"))
    return Content(
        type="interactive",
        text=text(reply.get("title"), LONGEST_MESSAGE),
        payload=text(reply.get("id"), LONGEST_PAYLOAD),
        details=drop_empty(interactive=drop_empty(type=kind, description=text(reply.get("description")))),
    )


def _form(reply: Row) -> Content:
    """Read a completed form, whose answers come as JSON in a text. Without a written text the answers are the text."""
    fields = truncate_json(_answers(reply.get("response_json")))
    written = text(reply.get("body"), LONGEST_MESSAGE)
    answers = "\n".join(f"{name}: {value}" for name, value in fields.items() if isinstance(value, str | int | float))
    return Content(
        type="interactive",
        text=written if written and written != "Sent" else answers or written,
        details={"interactive": drop_empty(type="nfm_reply", name=text(reply.get("name")), fields=fields)},
    )


def _answers(value: object) -> Row:
    if not isinstance(value, str) or len(value) > LONGEST_FLOW:
        return {}
    try:
        return row(orjson.loads(value))
    except ValueError:
        return {}


def _order(message: Row) -> Content:
    order = row(message.get("order"))
    items = [truncate_json(item) for item in rows(order.get("product_items"))[:30]]
    found = drop_empty(catalog_id=text(order.get("catalog_id")), product_items=items)
    return Content(type="interactive", text=text(order.get("text"), LONGEST_MESSAGE), details={"order": found})


def unsupported(message: Row) -> Content:
    """Return unsupported content, under WhatsApp's name for it: WhatsApp hides it, or its type is unknown to us."""
    kind = text(message.get("type"))
    name = text(row(message.get("unsupported")).get("type"))
    code, said = error_of(message.get("errors"))
    found = name or (kind if kind not in ("unsupported", "unknown") else "") or "unknown"
    return Content(type="unsupported", details=drop_empty(unsupported=found, error=drop_empty(code=code, message=said)))


CONTENTS: Final[dict[str, Callable[[Row], Content]]] = {
    "text": _text,
    "image": _media,
    "video": _media,
    "audio": _media,
    "document": _media,
    "sticker": _media,
    "location": _location,
    "contacts": _contacts,
    "button": _button,
    "interactive": _interactive,
    "order": _order,
}


Fact = ConversationFact | ProviderEvent
GROUP: Final = Unknown(platform="whatsapp", kind="group")


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
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
    def who(self) -> FactOrigin:
        return {"channel": self.channel, "person": self.person, "at": self.at}


def read_message(message: Row, channel: ChannelReference, contacts: Contacts, at: datetime) -> Fact | None:
    """Return a message as a fact: a new message, or a change of an earlier one; None if it names nobody."""
    if message.get("group_id"):
        return GROUP
    person = contacts.person(message.get("from"), message.get("from_user_id"))
    if person is None:
        return None
    sent = ReceivedMessage(message, channel, person, moment(message.get("timestamp")) or at)
    read = CHANGES.get(text(message.get("type")), _new)
    return read(sent)


def _new(sent: ReceivedMessage) -> Fact | None:
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


def _surroundings(message: Row) -> dict[str, object]:
    """Return the message that this one answers, and the advertisement that it came from."""
    if "context" not in message and "referral" not in message:
        return {}
    context = row(message.get("context"))
    return drop_empty(
        reply_to=text(context.get("id"), LONGEST_ID),
        forwarded=context.get("forwarded") is True or context.get("frequently_forwarded") is True or None,
        referred_product=truncate_json(row(context.get("referred_product"))),
        referral=truncate_json(row(message.get("referral"))),
    )


def _reaction(sent: ReceivedMessage) -> Fact | None:
    """Read a reaction. Without an emoji it removes an earlier reaction."""
    target = text(sent.content.get("message_id"), LONGEST_ID)
    return ReactionChanged(**sent.who, message_id=target, emoji=text(sent.content.get("emoji"), 40)) if target else None


def _edit(sent: ReceivedMessage) -> Fact | None:
    """Read an edit. Without a target or a text it is kept as a message that cannot be shown."""
    target = text(sent.content.get("original_message_id"), LONGEST_ID)
    edited = row(sent.content.get("message"))
    if not target or not edited:
        return _new(sent)
    return MessageEdited(**sent.who, message_id=target, text=read_content(edited).text)


def _revoke(sent: ReceivedMessage) -> Fact | None:
    target = text(sent.content.get("original_message_id"), LONGEST_ID)
    return MessageRemoved(**sent.who, message_id=target) if target else None


def _system(sent: ReceivedMessage) -> Fact | None:
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
CHANGES: Final[dict[str, Callable[[ReceivedMessage], Fact | None]]] = {
    "reaction": _reaction,
    "edit": _edit,
    "revoke": _revoke,
    "system": _system,
}
