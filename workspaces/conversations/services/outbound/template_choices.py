"""Lists the templates that a user can choose. Higher apps provide them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.hooks import Registry
from workspaces.subaccounts.models import Channel


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A parameter of a template, as the form shows it."""

    label: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """An approved template of a channel. `filled` takes the parameters' values and returns a message's `template`."""

    id: str
    name: str
    language: str
    preview: str
    parameters: tuple[TemplateParameter, ...]
    filled: Callable[[Sequence[str]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A higher app's list of a channel's approved templates, of bounded length."""

    name: str
    choices: Callable[[Channel], Sequence[TemplateChoice]]


template_sources = Registry[TemplateSource](
    "sources of templates",
    called="`template_choices` calls each when a form lists the templates of a channel",
    transaction="the caller's, if there is one",
    failure="the page answers 500",
)


def template_choices(channel: Channel) -> list[TemplateChoice]:
    """Return the templates that can be sent on a channel."""
    return [choice for source in template_sources for choice in source.choices(channel)]


def template_choice(choices: Sequence[TemplateChoice], id: str) -> TemplateChoice | None:
    """Return the choice with this id, or None."""
    return next((choice for choice in choices if choice.id == id), None)
