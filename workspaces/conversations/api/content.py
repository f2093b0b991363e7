"""Checks which parts of a message's content go together."""

from typing import Any

from rest_framework import serializers

from config.api.text_fields import can_be_stored
from workspaces.conversations.services import Content

KINDS = ("text", "media", "template")
PARTS = {"caption": "media", "language": "template", "components": "template"}


def check_content(sent: dict[str, Any]) -> None:
    """Refuse content unless it is exactly one of text, media and template, with fitting parts."""
    kinds = [kind for kind in KINDS if sent.get(kind)]
    if not kinds:
        raise serializers.ValidationError({"text": ["One of text, media and template is required."]})
    if len(kinds) > 1:
        raise serializers.ValidationError({kinds[1]: [f"The {kinds[1]} field cannot be sent along with {kinds[0]}."]})
    for part, kind in PARTS.items():
        if sent.get(part) and kind != kinds[0]:
            raise serializers.ValidationError({part: [f"The {part} field goes with {kind} only."]})
    if not can_be_stored(sent.get("components")):
        raise serializers.ValidationError(
            {"components": ["The components field holds characters or numbers that cannot be stored."]}
        )
    if kinds == ["template"] and not sent.get("language"):
        raise serializers.ValidationError({"language": ["The language field is required."]})


def content_of(sent: dict[str, Any]) -> Content:
    """Return the content of a valid request body."""
    if sent.get("template"):
        template = {"name": sent["template"], "language": sent["language"], "components": sent.get("components") or []}
        return Content(template=template)
    if sent.get("media"):
        return Content(text=sent.get("caption") or "", media=sent["media"])
    return Content(text=sent["text"])
