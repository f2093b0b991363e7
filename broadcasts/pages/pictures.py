"""The picture of a composed message."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from broadcasts.models import Broadcast
from broadcasts.pages.phone import Picture, filled, picture_of, shown
from broadcasts.pages.templates import gaps_of, template_of, values_of
from broadcasts.pages.words import VARIABLES
from channelconnect.models import MessageTemplate


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture with its texts as people see them. The browser redraws them from `raw`."""

    raw: Picture
    header: SafeString
    body: SafeString


def pictured(broadcast: Broadcast) -> Pictured:
    """Return the picture of a broadcast's message."""
    template = template_of(broadcast)
    values = values_of(template, broadcast.message) if template else {}
    return picture_with(template, values, broadcast.message.get("text") or broadcast.message.get("template") or "")


def picture_with(template: MessageTemplate | None, values: Mapping[str, str], text: str) -> Pictured:
    """Return the picture of a template with its values, or of a text."""
    raw = picture_of(template) if template else Picture(body=text)
    examples = {gap.field: gap.example for gap in gaps_of(template)} if template else {}
    known: dict[str, Any] = examples | {name: value for name, value in values.items() if value}
    if template is None and "message_text" in values and not values["message_text"]:
        known["message_text"] = " "
    return Pictured(raw, shown(filled(raw.header, known), VARIABLES), shown(filled(raw.body, known), VARIABLES))
