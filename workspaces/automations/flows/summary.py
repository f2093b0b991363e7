"""A flow, a draft as well, as people read it: step by step, what is said, what is set, where each answer leads."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workspaces.automations.flows.fields import Choice, Field, Many, Number, Text, Variable, is_empty
from workspaces.automations.flows.flow import Flow, steps_of
from workspaces.automations.flows.registry import STEPS

Ways = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class ToldStep:
    """A step in words: `texts` is what contacts or the team read, `ways` an answer and the number of what follows.

    The answer is empty where there is only one way.
    """

    number: int
    label: str
    texts: list[str]
    settings: str
    ways: Ways


def told(flow: Flow) -> list[ToldStep]:
    """Tell a flow in the order of its steps; only its shape must have been judged."""
    numbers = {step["id"]: number for number, step in enumerate(steps_of(flow), 1)}
    return [_told(step, numbers) for step in steps_of(flow)]


def _told(step: dict[str, Any], numbers: dict[str, int]) -> ToldStep:
    declared, config = STEPS.get(step["type"]), _config(step)
    answers = declared.port_per[1] if declared and declared.port_per else ""
    fields = [field for field in declared.fields if field.name != answers] if declared else []
    return ToldStep(
        number=numbers[step["id"]],
        label=declared.label if declared else step["type"],
        texts=[text for field in fields for text in _texts(field, config.get(field.name))],
        settings=" · ".join(words for field in fields if (words := _setting(field, config.get(field.name)))),
        ways=_ways(step, numbers),
    )


def _ways(step: dict[str, Any], numbers: dict[str, int]) -> Ways:
    """Give the ways out: those of a list's entries first, in their order. Going on to the next step goes unsaid."""
    ports = sorted(step.get("next", {}).items(), key=lambda way: (not way[0][-1:].isdigit(), len(way[0]), way[0]))
    ways = [(_answer(port, step), numbers[to]) for port, to in ports if to in numbers]
    return [] if ways == [("", numbers[step["id"]] + 1)] else ways


def _config(step: dict[str, Any]) -> dict[str, Any]:
    config = step.get("config")
    return config if isinstance(config, dict) else {}


def _texts(field: Field, value: Any) -> Iterator[str]:
    if isinstance(field, Text) and isinstance(value, str):
        yield value
    elif isinstance(field, Many) and isinstance(value, list):
        yield from filter(None, (_entry(field, one) for one in value))


def _entry(field: Many, value: Any) -> str:
    """Give an entry of a list in one line."""
    if field.plain is not None:
        return str(value or "")
    given = value if isinstance(value, dict) else {}
    shown = [one for one in field.of if isinstance(one, Text | Choice | Number | Variable)]
    return ": ".join(_plain(one, given[one.name]) for one in shown if not is_empty(given.get(one.name)))


def _setting(field: Field, value: Any) -> str:
    is_told = isinstance(field, Choice | Number) and not is_empty(value)
    return f"{field.label}: {_plain(field, value)}" if is_told else ""


def _plain(field: Field, value: Any) -> str:
    """Give a value in words; a choice is a word of ours."""
    return str(value).replace("_", " ") if isinstance(field, Choice) else str(value)


def _answer(port: str, step: dict[str, Any]) -> str:
    """Name a way out by what is tapped or said: a button by its title, `no_answer` as `no answer`."""
    declared = STEPS.get(step["type"])
    if port == "next":
        return ""
    word, _, position = port.rpartition("_")
    if declared and declared.port_per and word == declared.port_per[0] and position.isdigit():
        entries = _config(step).get(declared.port_per[1])
        entry = entries[int(position) - 1 :][:1] if isinstance(entries, list) else []
        if entry and isinstance(entry[0], dict) and entry[0].get("title"):
            return str(entry[0]["title"])
    return port.replace("_", " ")
