"""The workspace's settings in a flow's texts, such as `{{workspace.opening_hours}}`: their use and their values."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, steps_of
from workspaces.automations.flows.variables import BRACES, KNOWN

ROOT = "workspace."
# The settings with the article that sentences need. The name is not among them, because every workspace has one.
SETTING_LABELS = {
    "opening_hours": gettext_noop("the opening hours"),
    "address": gettext_noop("the address"),
    "phone": gettext_noop("the phone number"),
    "email": gettext_noop("the e-mail address"),
    "website": gettext_noop("the website"),
    "booking_link": gettext_noop("the booking link"),
    "review_link": gettext_noop("the review link"),
    "menu_link": gettext_noop("the link to the menu"),
}


def settings_used(flow: Flow) -> dict[str, str]:
    """Give the settings that a flow's texts use, each with the title of the first node that uses it."""
    used: dict[str, str] = {}
    for title, config in _nodes(flow):
        for text in _texts(config):
            for name in _settings_in(text):
                used.setdefault(name, title)
    return {name: used[name] for name in SETTING_LABELS if name in used}


def _nodes(flow: Flow) -> Iterator[tuple[str, Any]]:
    yield "the start", flow[TRIGGER_NODE].get("config")
    for position, step in enumerate(steps_of(flow), 1):
        yield f"step {position}", step.get("config")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for below in value.values() if isinstance(value, dict) else value:
            yield from _texts(below)


def _settings_in(text: str) -> Iterator[str]:
    for found in BRACES.finditer(text):
        name = found[1].strip().removeprefix(ROOT)
        if found[1].strip().startswith(ROOT) and name in SETTING_LABELS:
            yield name


def with_settings(text: str, values: Mapping[str, str]) -> str:
    """Write a workspace's settings into a text, unset ones by their names in brackets. Other variables stay."""

    def written(found: re.Match[str]) -> str:
        root, _, name = found[1].strip().partition(".")
        if root != "workspace" or name not in KNOWN["workspace"]:
            return found[0]
        return values.get(name) or f"[{gettext(SETTING_LABELS.get(name, 'the name')).removeprefix('the ')}]"

    return BRACES.sub(written, text)
