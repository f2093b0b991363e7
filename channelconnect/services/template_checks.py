"""Checks whether a template can be sent, matches its parameters, and renders its text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_noop

from channelconnect.models import MessageTemplate
from channelconnect.providers.parsing import Row, number, row, rows, text
from channelconnect.providers.templates import PLACEHOLDER, WantedParameter, placeholders
from workspaces.conversations.services.conversations import ContentRefused
from workspaces.subaccounts.models import Channel, Workspace

TEXTS: Final = ("header", "body")
KINDS: Final = (*TEXTS, "button", "carousel", "limited_time_offer")
BUTTON_PARAMETERS: Final = {"url": "text", "copy_code": "coupon_code"}
# Buttons that need no parameter, and the parameters that they may take.
OPTIONAL_PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "quick_reply": ("payload",),
    "voice_call": ("payload", "ttl_minutes"),
    "otp": ("text",),
    **dict.fromkeys(("flow", "catalog", "mpm", "spm", "order_details"), ("action",)),
}
# Names of buttons in messages that differ from the provider's lists.
SUB_TYPES: Final = {"otp": "url"}
# The provider refuses these in a text that fills a template.
BREAKS: Final = re.compile(r"[\n\r\t\v\f\x85\u2028\u2029]| {5}")
NO_BREAKS: Final = gettext_noop(
    "A text that fills a template may hold no line break, no tab and at most four spaces in a row."
)


@dataclass(frozen=True, slots=True)
class ComponentParameters:
    """The parameters for one place of a template. `field` names their component in the message."""

    field: str
    parameters: list[Row]


def match_parameters(template: MessageTemplate, components: Sequence[object]) -> dict[str, list[Row]]:
    """Return the parameters by their place: `body`, `header`, `button.0`, `carousel.0.body`.

    Raises `ContentRefused` on `components.N` for a component that does not fit, and on `components` if one is missing.
    """
    wanted: dict[str, list[WantedParameter]] = {}
    for parameter in template.parameters:
        place = parameter["component"]
        is_button = place.endswith("button")
        wanted.setdefault(f"{place}.{parameter['index']}" if is_button else place, []).append(parameter)
    places = {**dict.fromkeys(_cards_of(wanted), ""), **dict(_places_of(rows(template.components)))}
    given = _given(components, places | {place: places.get(place) or ones[0]["type"] for place, ones in wanted.items()})
    for place, parameters in wanted.items():
        _check_place(place, parameters, given.get(place, ComponentParameters("components", [])))
    for place, one in given.items():
        if place not in wanted:
            _check_optional(place, places.get(place, ""), one)
    return {place: one.parameters for place, one in given.items()}


def _places_of(listed: Sequence[Row], within: str = "") -> Iterator[tuple[str, str]]:
    """Yield every place of a template that a component may name; a button's with the button's type."""
    for component in listed:
        kind = text(component.get("type")).lower()
        if kind == "buttons":
            for index, button in enumerate(rows(component.get("buttons"))):
                yield f"{within}button.{index}", text(button.get("type")).lower()
        elif kind == "carousel":
            yield f"{within}carousel", ""
            for card, one in enumerate(rows(component.get("cards"))):
                yield f"{within}carousel.{card}", ""
                yield from _places_of(rows(one.get("components")), within=f"{within}carousel.{card}.")
        elif kind in KINDS:
            yield f"{within}{kind}", ""


def _cards_of(wanted: Mapping[str, object]) -> Iterator[str]:
    for place in wanted:
        if place.startswith("carousel."):
            yield "carousel"
            yield ".".join(place.split(".")[:2])


def _given(components: Sequence[object], places: Mapping[str, str]) -> dict[str, ComponentParameters]:
    found: dict[str, ComponentParameters] = {}
    for at, component in enumerate(components):
        for place, one in _parts_of(component, f"components.{at}", places):
            if place not in places:
                raise ContentRefused(f"The template has no {place}.", field=one.field)
            if place in found:
                raise ContentRefused(f"The template's {place} is filled twice.", field=one.field)
            found[place] = one
    return found


def _parts_of(
    named: object, field: str, places: Mapping[str, str], within: str = ""
) -> Iterator[tuple[str, ComponentParameters]]:
    """Yield the places that a component fills; a carousel also fills those of its cards."""
    component = row(named)
    kind = text(component.get("type")).lower()
    if kind not in KINDS or (within and kind == "carousel"):
        raise ContentRefused(f"The type of a component must be one of: {', '.join(KINDS)}.", field=field)
    if kind == "carousel":
        yield kind, ComponentParameters(field, [])
        for card in _objects(component.get("cards"), "cards", field):
            place = f"carousel.{_index(card.get('card_index'), 'A card needs its card_index', field)}"
            yield place, ComponentParameters(field, [])
            for inner in _objects(card.get("components"), "components", field):
                yield from _parts_of(inner, field, places, within=f"{place}.")
        return
    parameters = component.get("parameters")
    given = ComponentParameters(field, _objects([] if parameters is None else parameters, "parameters", field))
    if kind != "button":
        yield f"{within}{kind}", given
        return
    place = f"{within}button.{_index(component.get('index'), 'A button needs its index', field)}"
    sub_type = text(component.get("sub_type")).lower()
    expected = SUB_TYPES.get(places.get(place, ""), places.get(place, sub_type))
    if sub_type != expected:
        raise ContentRefused(f"The sub_type of the template's {place} is {expected}.", field=field)
    if place in places and not given.parameters:
        raise ContentRefused(f"The component of the template's {place} needs a parameter.", field=field)
    yield place, given


def _objects(value: object, name: str, field: str) -> list[Row]:
    found = rows(value)
    if not isinstance(value, list) or len(found) != len(value):
        raise ContentRefused(f"The {name} of a component must be a list of objects.", field=field)
    return found


def _index(value: object, what: str, field: str) -> int:
    found = number(value)
    if found is None or found < 0:
        raise ContentRefused(f"{what}: its place in the template, counted from 0.", field=field)
    return found


def _check_place(place: str, wanted: Sequence[WantedParameter], given: ComponentParameters) -> None:
    if len(given.parameters) != len(wanted):
        plural = "" if len(wanted) == 1 else "s"
        raise ContentRefused(f"The template's {place} needs {len(wanted)} parameter{plural}.", field=given.field)
    names = {one["name"] for one in wanted if one["name"]}
    if names and {text(one.get("parameter_name")) for one in given.parameters} != names:
        raise ContentRefused(
            f"The template's {place} needs the parameters {', '.join(sorted(names))}.", field=given.field
        )
    for expected, one in zip(wanted, given.parameters, strict=True):
        kind = BUTTON_PARAMETERS.get(expected["type"], expected["type"])
        if text(one.get("type")).lower() not in _kinds(kind) or not _has_value(one):
            raise ContentRefused(f"The template's {place} needs a parameter of the type {kind}.", field=given.field)
        if kind == "text" and "button" not in place and BREAKS.search(str(one.get("text", ""))):
            raise ContentRefused(NO_BREAKS, field=given.field)


def _check_optional(place: str, kind: str, given: ComponentParameters) -> None:
    if not given.parameters or place == "limited_time_offer":
        return
    allowed = OPTIONAL_PARAMETERS.get(kind)
    if not allowed:
        raise ContentRefused(f"The template's {place} takes no parameters.", field=given.field)
    if len(given.parameters) != 1 or not any(_fills(given.parameters[0], one) for one in allowed):
        raise ContentRefused(
            f"The template's {place} takes one parameter of the type {' or '.join(allowed)}.", field=given.field
        )


def _fills(parameter: Row, kind: str) -> bool:
    return text(parameter.get("type")).lower() == kind and bool(parameter.get(kind))


def _kinds(kind: str) -> tuple[str, ...]:
    return ("text", "currency", "date_time") if kind == "text" else (kind,)


def _has_value(parameter: Row) -> bool:
    """Whether the object that the type names is present and has a value."""
    kind = text(parameter.get("type")).lower()
    value = parameter.get(kind)
    return bool(text(value, 2_000)) if kind in ("text", "coupon_code") else bool(row(value))


MARKETING: Final = "marketing"


def has_approved_template(workspace: Workspace) -> bool:
    """Whether the workspace has a template that can be sent."""
    return MessageTemplate.objects.of(workspace).filter(status=MessageTemplate.Status.APPROVED).exists()


def find_template(channel: Channel, name: str, language: str) -> MessageTemplate | None:
    """Return a channel's template in a language, whatever its status."""
    return MessageTemplate.objects.filter(
        container_id__in=_containers_of(channel), name=name, language=language
    ).first()


def check_template(channel: Channel, name: str, language: str, components: Sequence[object]) -> str:
    """Return the text that people get. Raises `ContentRefused` for a template that the provider would refuse."""
    own = MessageTemplate.objects.filter(container_id__in=_containers_of(channel), name=name)
    template = own.filter(language=language).first()
    if template is None:
        known = sorted(own.values_list("language", flat=True)[:20])
        beside = f" It has it in {', '.join(known)}." if known else ""
        field = "language" if known else "template"
        raise ContentRefused(f"The channel has no template {name} in {language}.{beside}", field=field)
    if template.status != MessageTemplate.Status.APPROVED:
        raise ContentRefused(f"The template {name} is {template.status} and cannot be sent.", field="template")
    given = match_parameters(template, components)
    body = next((one for one in rows(template.components) if text(one.get("type")).upper() == "BODY"), {})
    return _filled(body, given.get("body", []))


def is_marketing_template(channel: Channel, name: str, language: str) -> bool:
    """Whether the provider counts a channel's template as marketing now."""
    template = find_template(channel, name, language)
    return template is not None and template.category.lower() == MARKETING


def _containers_of(channel: Channel) -> Any:
    return Channel.objects.filter(pk=channel.pk).values("credential__container_id")


def _filled(body: Row, given: Sequence[Row]) -> str:
    order = placeholders(body)
    named = {text(one.get("parameter_name")): _shown(one) for one in given}
    values = {name: named.get(name) or (_shown(given[at]) if at < len(given) else "") for at, name in enumerate(order)}
    return PLACEHOLDER.sub(lambda found: values.get(found[1], ""), text(body.get("text"), 2_000))


def _shown(parameter: Row) -> str:
    kind = text(parameter.get("type")).lower()
    return text(parameter.get("text"), 2_000) or text(row(parameter.get(kind)).get("fallback_value"))
