"""A flow, a draft as well, as people read it: step by step, its texts, its settings, where each answer leads."""

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
    """A step as people read it: `texts` for contacts or the team, `branches` an answer and the number of what follows.

    The answer is empty where there is only one branch.
    """

    number: int
    label: str
    texts: list[str]
    settings: str
    branches: Branches


def summarize(flow: Flow, settings: Mapping[str, str] | None = None) -> list[StepSummary]:
    """Summarize a flow in the order of its steps; only its structure must have been checked.

    `settings` are the workspace's own, which its texts show; without them, texts name what will stand there.
    """
    numbers = {step["id"]: number for number, step in enumerate(steps_of(flow), 1)}
    return [_summary(step, numbers, settings or {}) for step in steps_of(flow)]


def shown_step(title: str) -> str:
    """Give a step's title, which copies keep in English (`Step 3: Ask a question`), in the page's language.

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
    """Give the branches, those of a list's items first and in their order; a step that only goes on has none."""
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
    """Give an item of a list in one line."""
    if field.plain is not None:
        return str(value or "")
    given = value if isinstance(value, dict) else {}
    shown = [one for one in field.of if isinstance(one, Text | Choice | Number | Variable)]
    return ": ".join(_plain(one, given[one.name]) for one in shown if not is_empty(given.get(one.name)))


def _setting(field: Field, value: Any) -> str:
    is_shown = isinstance(field, Choice | Number) and not is_empty(value)
    return f"{_(field.label)}: {_plain(field, value)}" if is_shown else ""


def _plain(field: Field, value: Any) -> str:
    """Give a value as people read it; a choice is a name of ours."""
    return value_label(str(value)) if isinstance(field, Choice) else str(value)


def _answer(port: str, step: dict[str, Any]) -> str:
    """Name a branch by what is tapped or said: a button by its title, `no_answer` as `no answer`."""
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
