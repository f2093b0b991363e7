"""The templates that a person at the inbox may choose, with the parameters to fill in."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from channelconnect.models import MessageTemplate
from channelconnect.providers.graph.parsing import rows, text
from workspaces.conversations.services.content import TemplateChoice, TemplateParameter
from workspaces.subaccounts.models import Channel

MOST_SHOWN: Final = 200
# Kinds of parameters that a person can type. A template with a file in its header is sent over the API.
TYPED: Final = ("text", "url", "copy_code")
LONGEST_TEXT: Final = 2_000


def choices_of_channel(channel: Channel) -> list[TemplateChoice]:
    """Return a channel's approved templates whose parameters are all typed, by name."""
    containers = Channel.objects.filter(pk=channel.pk).values("credential__container_id")
    approved = MessageTemplate.objects.filter(container_id__in=containers, status=MessageTemplate.Status.APPROVED)
    return [_choice(template) for template in approved.order_by("name", "language")[:MOST_SHOWN] if _is_typed(template)]


def _is_typed(template: MessageTemplate) -> bool:
    return all(one["type"] in TYPED and not one["component"].startswith("carousel") for one in template.parameters)


def _choice(template: MessageTemplate) -> TemplateChoice:
    return TemplateChoice(
        id=str(template.uuid),
        name=template.name,
        language=template.language,
        preview="\n".join(_texts(template)),
        parameters=tuple(TemplateParameter(_label(one), one["example"] or "") for one in template.parameters),
        filled=lambda values: _filled(template, values),
    )


def _texts(template: MessageTemplate) -> list[str]:
    return [written for one in rows(template.components) if (written := text(one.get("text"), LONGEST_TEXT))]


def _label(parameter: Mapping[str, Any]) -> str:
    name = parameter["name"] or ("" if parameter["index"] is None else f"{{{{{parameter['index']}}}}}")
    if parameter["component"] == "button":
        return f"Button {parameter['index'] + 1}"
    return f"{parameter['component'].capitalize()} {name}".strip()


def _filled(template: MessageTemplate, values: Sequence[str]) -> dict[str, Any]:
    """Return the template in the provider's form, with the values in the order of the parameters."""
    components: list[dict[str, Any]] = []
    texts: dict[str, dict[str, Any]] = {}
    for parameter, value in zip(template.parameters, values, strict=True):
        if parameter["component"] == "button":
            components.append(_button(parameter, value))
            continue
        place = texts.setdefault(parameter["component"], {"type": parameter["component"], "parameters": []})
        named = {"parameter_name": parameter["name"]} if parameter["name"] else {}
        place["parameters"].append({"type": "text", **named, "text": value})
    return {"name": template.name, "language": template.language, "components": [*texts.values(), *components]}


def _button(parameter: Mapping[str, Any], value: str) -> dict[str, Any]:
    is_code = parameter["type"] == "copy_code"
    filled = {"type": "coupon_code", "coupon_code": value} if is_code else {"type": "text", "text": value}
    return {"type": "button", "sub_type": parameter["type"], "index": str(parameter["index"]), "parameters": [filled]}
