"""Checks whether a template can be sent, and renders its text."""

from collections.abc import Sequence
from typing import Any, Final

from channelconnect.models import MessageTemplate
from channelconnect.providers.graph.parsing import Row, row, rows, text
from channelconnect.providers.templates import PLACEHOLDER, placeholders
from channelconnect.services.templates.fitting import fitting_parameters
from workspaces.conversations.services.conversations import ContentRefused
from workspaces.subaccounts.models import Channel, Workspace

MARKETING: Final = "marketing"


def has_approved_template(workspace: Workspace) -> bool:
    """Whether the workspace has a template that can be sent."""
    return MessageTemplate.objects.of(workspace).filter(status=MessageTemplate.Status.APPROVED).exists()


def find_template(channel: Channel, name: str, language: str) -> MessageTemplate | None:
    """Return a channel's template in a language, whatever its status."""
    return MessageTemplate.objects.filter(
        container_id__in=_containers_of(channel), name=name, language=language
    ).first()


def check_template(channel: Channel, name: str, language: str, components: Sequence[Any]) -> str:
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
    given = fitting_parameters(template, components)
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
