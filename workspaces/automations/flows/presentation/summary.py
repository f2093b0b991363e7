"""A summary of a flow or a draft for people: for each step its texts, its settings, and where each answer leads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from workspaces.automations.flows.fields import Choice, Field, Many, Number, Text, Variable, is_empty
from workspaces.automations.flows.flow import Flow, steps_of
from workspaces.automations.flows.presentation.labels import value_label
from workspaces.automations.flows.registry import STEPS
from workspaces.automations.flows.settings import with_settings

Branches = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """A step for people to read. `texts` are for contacts or the team.

    `branches` holds each answer with the number of the step that follows. The answer of the port `next` is empty.
    """

    number: int
    label: str
    texts: list[str]
    settings: str
    branches: Branches


def summarize(flow: Flow, settings: Mapping[str, str] | None = None) -> list[StepSummary]:
    """Summarize a flow in the order of its steps. Only its structure must have been checked.

    `settings` are the values of the workspace's settings that the texts show. Without them, the texts show the names of
    the settings.
    """
    numbers = {step["id"]: number for number, step in enumerate(steps_of(flow), 1)}
    return [_summary(step, numbers, settings or {}) for step in steps_of(flow)]


def shown_step(title: str) -> str:
    """Translate a step's title into the page's language. Copies store it in English (`Step 3: Ask a question`).

    A title of another form stays as it is.
    """
    place, _colon, label = title.partition(": ")
    values = {"number": place.removeprefix("Step "), "label": _(label) if label else ""}
    if place == "Start":
        return _("Start: %(label)s") % values
    return _("Step %(number)s: %(label)s") % values if label and values["number"].isdigit() else title


def _summary(step: dict[str, Any], numbers: dict[str, int], settings: Mapping[str, str]) -> StepSummary:
    declared, config = STEPS.get(step["type"]), _config(step)
    answers = declared.port_per[1] if declared and declared.port_per else ""
    fields = [field for field in declared.fields if field.name != answers] if declared else []
    return StepSummary(
        number=numbers[step["id"]],
        label=_(declared.label) if declared else step["type"],
        texts=[with_settings(text, settings) for field in fields for text in _texts(field, config.get(field.name))],
        settings=" · ".join(setting for field in fields if (setting := _setting(field, config.get(field.name)))),
        branches=_branches(step, numbers),
    )


def _branches(step: dict[str, Any], numbers: dict[str, int]) -> Branches:
    """Give the branches, first those of a list's items in their order. A step that only leads to the next has none."""
    ports = sorted(step.get("next", {}).items(), key=lambda port: (not port[0][-1:].isdigit(), len(port[0]), port[0]))
    branches = [(_answer(port, step), numbers[to]) for port, to in ports if to in numbers]
    return [] if branches == [("", numbers[step["id"]] + 1)] else branches


def _config(step: dict[str, Any]) -> dict[str, Any]:
    config = step.get("config")
    return config if isinstance(config, dict) else {}


def _texts(field: Field, value: Any) -> Iterator[str]:
    if isinstance(field, Text) and isinstance(value, str):
        yield value
    elif isinstance(field, Many) and isinstance(value, list):
        yield from filter(None, (_item(field, one) for one in value))


def _item(field: Many, value: Any) -> str:
    """Write an item of a list in one line."""
    if field.plain is not None:
        return str(value or "")
    given = value if isinstance(value, dict) else {}
    shown = [one for one in field.of if isinstance(one, Text | Choice | Number | Variable)]
    return ": ".join(_plain(one, given[one.name]) for one in shown if not is_empty(given.get(one.name)))


def _setting(field: Field, value: Any) -> str:
    is_shown = isinstance(field, Choice | Number) and not is_empty(value)
    return f"{_(field.label)}: {_plain(field, value)}" if is_shown else ""


def _plain(field: Field, value: Any) -> str:
    """Write a value for people, with the label of a choice."""
    return value_label(str(value)) if isinstance(field, Choice) else str(value)


def _answer(port: str, step: dict[str, Any]) -> str:
    """Give the name of a branch: the title of a button, or the label of a port (`no_answer` as `no answer`)."""
    declared = STEPS.get(step["type"])
    if port == "next":
        return ""
    prefix, _, position = port.rpartition("_")
    if declared and declared.port_per and prefix == declared.port_per[0] and position.isdigit():
        items = _config(step).get(declared.port_per[1])
        item = items[int(position) - 1 :][:1] if isinstance(items, list) else []
        if item and isinstance(item[0], dict) and item[0].get("title"):
            return str(item[0]["title"])
    return value_label(port)
