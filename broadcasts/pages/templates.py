"""The gaps of a template that an author fills in, and the message that the typed values make."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from broadcasts.models import Broadcast
from channelconnect.models import MessageTemplate
from workspaces.subaccounts.models import Channel

MOST_SHOWN: Final = 200
FILES: Final = ("image", "video", "document")
TYPED: Final = ("text", "url", "copy_code", *FILES)
PREFIX: Final = "parameter_"


@dataclass(frozen=True, slots=True)
class Gap:
    """A place in a template that the author must fill. `field` names its form field."""

    field: str
    place: str
    kind: str
    label: str
    example: str
    index: int | None
    name: str | None

    @property
    def is_file(self) -> bool:
        return self.kind in FILES


def templates_of(channel: Channel) -> list[MessageTemplate]:
    """Return a channel's approved templates that a form can fill, by name; at most `MOST_SHOWN`."""
    if channel.platform != "whatsapp":
        return []
    containers = Channel.objects.filter(pk=channel.pk).values("credential__container_id")
    approved = MessageTemplate.objects.filter(container_id__in=containers, status=MessageTemplate.Status.APPROVED)
    return [one for one in approved.order_by("name", "language")[:MOST_SHOWN] if _is_typed(one)]


def template_of(broadcast: Broadcast) -> MessageTemplate | None:
    """Return the template of a broadcast's message, or None if its channel no longer has it."""
    name, language = broadcast.message.get("template"), broadcast.message.get("language")
    return next((one for one in templates_of(broadcast.channel) if (one.name, one.language) == (name, language)), None)


def gaps_of(template: MessageTemplate) -> list[Gap]:
    """Return a template's gaps in their order."""
    return [
        Gap(
            field=f"{PREFIX}{number}",
            place=one["component"],
            kind=one["type"],
            label=_label(one),
            example=one["example"] or "",
            index=one["index"],
            name=one["name"],
        )
        for number, one in enumerate(template.parameters)
    ]


def message_of(template: MessageTemplate, values: Mapping[str, str], filename: str = "") -> dict[str, Any]:
    """Return the message that fills a template, in the form that `build_broadcast` takes."""
    gaps = gaps_of(template)
    texts: dict[str, dict[str, Any]] = {}
    buttons = []
    for gap in gaps:
        value = values.get(gap.field, "")
        if gap.place == "button":
            buttons.append(_button(gap, value))
        elif not gap.is_file:
            place = texts.setdefault(gap.place, {"type": gap.place, "parameters": []})
            named = {"parameter_name": gap.name} if gap.name else {}
            place["parameters"].append({"type": "text", **named, "text": value})
    header = next((gap for gap in gaps if gap.is_file), None)
    return {
        "template": template.name,
        "language": template.language,
        "components": [*texts.values(), *buttons],
        "header": _header(header, values, filename) if header else None,
    }


def values_of(template: MessageTemplate, message: Mapping[str, Any]) -> dict[str, str]:
    """Return the typed values of a message, by form field."""
    header = message.get("header") or {}
    found = dict(_texts_in(message.get("components") or []))
    values = {}
    for gap in gaps_of(template):
        if gap.is_file:
            values[gap.field] = header.get("url") or ""
        elif gap.place == "header" and header.get("parameters"):
            position = [one for one in gaps_of(template) if one.place == "header"].index(gap)
            values[gap.field] = _at(header["parameters"], position)
        else:
            values[gap.field] = found.get(_key(template, gap), "")
    return values


def _header(gap: Gap, values: Mapping[str, str], filename: str) -> dict[str, Any]:
    named = {"filename": filename} if filename and gap.kind == "document" else {}
    return {"url": values.get(gap.field, ""), **named}


def _button(gap: Gap, value: str) -> dict[str, Any]:
    is_code = gap.kind == "copy_code"
    filled = {"type": "coupon_code", "coupon_code": value} if is_code else {"type": "text", "text": value}
    return {"type": "button", "sub_type": gap.kind, "index": str(gap.index), "parameters": [filled]}


def _key(template: MessageTemplate, gap: Gap) -> str:
    """Return a gap's key as a message's components have it: component and position."""
    if gap.place == "button":
        return f"button.{gap.index}.0"
    return f"{gap.place}.{[one for one in gaps_of(template) if one.place == gap.place].index(gap)}"


def _texts_in(components: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for component in components:
        if not isinstance(component, Mapping):
            continue
        place = str(component.get("type", "")).lower()
        place = f"button.{component.get('index')}" if place == "button" else place
        for position, parameter in enumerate(component.get("parameters") or []):
            if isinstance(parameter, Mapping):
                text = parameter.get("text") or parameter.get("coupon_code") or ""
                yield f"{place}.{position}", str(text)


def _at(values: Sequence[Any], position: int) -> str:
    return str(values[position]) if position < len(values) and isinstance(values[position], str) else ""


def _is_typed(template: MessageTemplate) -> bool:
    return all(one["type"] in TYPED and not one["component"].startswith("carousel") for one in template.parameters)


def _label(parameter: Mapping[str, Any]) -> str:
    kind, place = parameter["type"], parameter["component"]
    if kind in FILES:
        kinds = {"image": _("Picture"), "video": _("Film"), "document": _("Document")}
        return _("%(kind)s at the top: its public https address") % {"kind": kinds[kind]}
    if place == "button":
        number = parameter["index"] + 1
        return (
            _("Code of button %(number)s") % {"number": number}
            if kind == "copy_code"
            else _("End of button %(number)s's address") % {"number": number}
        )
    gap = parameter["name"] or parameter["index"]
    return _("Text {{%(gap)s}} of the heading" if place == "header" else "Text {{%(gap)s}}") % {"gap": gap}
