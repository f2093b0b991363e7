"""Whether a template can be sent, and what people then read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from channelconnect.models import MessageTemplate
from channelconnect.providers.graph.parsing import Row, row, rows, text
from channelconnect.providers.templates import PLACEHOLDER, placeholders
from workspaces.conversations.services.errors import ContentRefused
from workspaces.subaccounts.models import Channel, Workspace

MARKETING: Final = "marketing"
TEXTS: Final = ("header", "body")
BUTTON_PARAMETERS: Final = {"url": "text", "copy_code": "coupon_code"}


def has_approved_template(workspace: Workspace) -> bool:
    """Whether the workspace has a template that can be sent."""
    return MessageTemplate.objects.of(workspace).filter(status=MessageTemplate.Status.APPROVED).exists()


def find_template(channel: Channel, name: str, language: str) -> MessageTemplate | None:
    """Give a channel's template in a language, whatever its status."""
    return MessageTemplate.objects.filter(
        container_id__in=_containers_of(channel), name=name, language=language
    ).first()


def check_template(channel: Channel, name: str, language: str, components: Sequence[Any]) -> str:
    """Give the text that people get. Raises `ContentRefused` for a template that the provider would not send."""
    own = MessageTemplate.objects.filter(container_id__in=_containers_of(channel), name=name)
    template = own.filter(language=language).first()
    if template is None:
        known = sorted(own.values_list("language", flat=True)[:20])
        beside = f" It has it in {', '.join(known)}." if known else ""
        field = "language" if known else "template"
        raise ContentRefused(f"The channel has no template {name} in {language}.{beside}", field=field)
    if template.status != MessageTemplate.Status.APPROVED:
        raise ContentRefused(f"The template {name} is {template.status} and cannot be sent.", field="template")
    return _fill(template, _given(components))


def is_marketing_template(channel: Channel, name: str, language: str) -> bool:
    """Whether the provider takes a channel's template for marketing now."""
    template = find_template(channel, name, language)
    return template is not None and template.category.lower() == MARKETING


def _containers_of(channel: Channel) -> Any:
    return Channel.objects.filter(pk=channel.pk).values("credential__container_id")


def _given(components: Sequence[Any]) -> dict[str, list[Row]]:
    """Give the parameters by their place: `body`, `header`, `button.0`, `carousel.0.body`."""
    found: dict[str, list[Row]] = {}
    for component in rows(list(components)):
        kind = text(component.get("type")).lower()
        if kind == "carousel":
            for card in rows(component.get("cards")):
                inner = _given(rows(card.get("components")))
                found |= {f"carousel.{card.get('card_index')}.{place}": values for place, values in inner.items()}
        else:
            place = f"button.{component.get('index')}" if kind == "button" else kind
            found[place] = rows(component.get("parameters"))
    return found


def _fill(template: MessageTemplate, given: Mapping[str, list[Row]]) -> str:
    """Check that what is given fits what has to be filled in; give the body's text with it."""
    wanted: dict[str, list[Mapping[str, Any]]] = {}
    for parameter in template.parameters:
        place = parameter["component"]
        is_button = place.endswith("button")
        wanted.setdefault(f"{place}.{parameter['index']}" if is_button else place, []).append(parameter)
    for place, parameters in wanted.items():
        _check_place(place, parameters, given.get(place, []))
    for place, values in given.items():
        if values and place not in wanted and place.rpartition(".")[2] in TEXTS:
            raise _misfit(f"The template's {place} takes no parameters.")
    body = next((one for one in rows(template.components) if text(one.get("type")).upper() == "BODY"), {})
    return _filled(body, given.get("body", []))


def _check_place(place: str, wanted: Sequence[Mapping[str, Any]], given: Sequence[Row]) -> None:
    if len(given) != len(wanted):
        plural = "" if len(wanted) == 1 else "s"
        raise _misfit(f"The template's {place} needs {len(wanted)} parameter{plural}.")
    names = {one["name"] for one in wanted if one["name"]}
    if names and {text(one.get("parameter_name")) for one in given} != names:
        raise _misfit(f"The template's {place} needs the parameters {', '.join(sorted(names))}.")
    for expected, one in zip(wanted, given, strict=True):
        kind = BUTTON_PARAMETERS.get(expected["type"], expected["type"])
        if text(one.get("type")).lower() not in _kinds(kind) or not _has_value(one):
            raise _misfit(f"The template's {place} needs a parameter of the type {kind}.")


def _kinds(kind: str) -> tuple[str, ...]:
    return ("text", "currency", "date_time") if kind == "text" else (kind,)


def _has_value(parameter: Row) -> bool:
    """Whether the object that the type names is there and says something."""
    kind = text(parameter.get("type")).lower()
    value = parameter.get(kind)
    return bool(text(value, 2_000)) if kind in ("text", "coupon_code") else bool(row(value))


def _filled(body: Row, given: Sequence[Row]) -> str:
    order = placeholders(body)
    named = {text(one.get("parameter_name")): _shown(one) for one in given}
    values = {name: named.get(name) or (_shown(given[at]) if at < len(given) else "") for at, name in enumerate(order)}
    return PLACEHOLDER.sub(lambda found: values.get(found[1], ""), text(body.get("text"), 2_000))


def _shown(parameter: Row) -> str:
    kind = text(parameter.get("type")).lower()
    return text(parameter.get("text"), 2_000) or text(row(parameter.get(kind)).get("fallback_value"))


def _misfit(message: str) -> ContentRefused:
    return ContentRefused(message, field="components")
