"""Reads a WhatsApp message's content, by its type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from channelconnect.providers.graph.parsing import Row, ident, row, rows, text
from channelconnect.providers.notices.values import LONGEST_MESSAGE, bounded, error_of, present
from workspaces.conversations.facts import ReceivedFile

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
    details: Mapping[str, Any] = field(default_factory=dict)


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
        details=present(voice=media.get("voice") is True or None, animated=media.get("animated") is True or None),
    )


def _location(message: Row) -> Content:
    place = row(message.get("location"))
    found = {name: bounded(place.get(name)) for name in ("latitude", "longitude", "name", "address", "url")}
    return Content(type="location", text=text(place.get("name")), details={"location": present(**found)})


def _contacts(message: Row) -> Content:
    cards = [bounded(card) for card in rows(message.get("contacts"))[:MOST_CARDS]]
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
        details=present(interactive=present(type=kind, description=text(reply.get("description")))),
    )


def _form(reply: Row) -> Content:
    """Read a completed form, whose answers come as JSON in a text. Without a written text the answers are the text."""
    fields = bounded(_answers(reply.get("response_json")))
    written = text(reply.get("body"), LONGEST_MESSAGE)
    answers = "\n".join(f"{name}: {value}" for name, value in fields.items() if isinstance(value, str | int | float))
    return Content(
        type="interactive",
        text=written if written and written != "Sent" else answers or written,
        details={"interactive": present(type="nfm_reply", name=text(reply.get("name")), fields=fields)},
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
    items = [bounded(item) for item in rows(order.get("product_items"))[:30]]
    found = present(catalog_id=text(order.get("catalog_id")), product_items=items)
    return Content(type="interactive", text=text(order.get("text"), LONGEST_MESSAGE), details={"order": found})


def unsupported(message: Row) -> Content:
    """Return unsupported content, under WhatsApp's name for it: WhatsApp hides it, or its type is unknown to us."""
    kind = text(message.get("type"))
    name = text(row(message.get("unsupported")).get("type"))
    code, said = error_of(message.get("errors"))
    found = name or (kind if kind not in ("unsupported", "unknown") else "") or "unknown"
    return Content(type="unsupported", details=present(unsupported=found, error=present(code=code, message=said)))


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
