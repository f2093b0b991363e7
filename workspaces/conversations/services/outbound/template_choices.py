"""Which templates a person may choose from; the app that knows them says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.hooks import Registry
from workspaces.subaccounts.models import Channel


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A gap in a template, as people are asked for it."""

    label: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """An approved template of a channel. `filled` gives a message's `template` from values in the gaps' order."""

    id: str
    name: str
    language: str
    preview: str
    parameters: tuple[TemplateParameter, ...]
    filled: Callable[[Sequence[str]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """How a higher app lists a channel's approved templates; a bounded number."""

    name: str
    choices: Callable[[Channel], Sequence[TemplateChoice]]


template_sources = Registry[TemplateSource]("sources of templates")


def template_choices(channel: Channel) -> list[TemplateChoice]:
    """Give the templates that can be sent on a channel."""
    return [choice for source in template_sources for choice in source.choices(channel)]


def template_choice(choices: Sequence[TemplateChoice], id: str) -> TemplateChoice | None:
    """Give the one with this id."""
    return next((choice for choice in choices if choice.id == id), None)
