"""A preview of a flow or a draft as a chat. It follows one path through the flow, with the first answer each time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.utils.translation import gettext as _

from workspaces.automations.flows.fields import Own, Text, is_empty
from workspaces.automations.flows.flow import Flow, steps_of
from workspaces.automations.flows.presentation.labels import value_label
from workspaces.automations.flows.registry import STEPS
from workspaces.automations.flows.settings import with_settings
from workspaces.automations.flows.types import StepType
from workspaces.automations.flows.variables import BRACES

MOST_BUBBLES = 40
LONGEST_SHOWN = 4_096
# Texts of these steps are for the team or for the A.I., so the chat shows none of them as a message.
UNSEEN = frozenset({"notify_team", "create_task", "add_note", "add_tag", "remove_tag", "has_tag", "set_field"})
UNSEEN_PREFIX = "ai_"
TEXTS = ("text", "caption", "footer")

Names = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Bubble:
    """One line of a chat: a message `in`, a message `out`, or a `note` about a step without a message."""

    side: Literal["in", "out", "note"]
    texts: list[str]
    choices: list[str] = field(default_factory=list)
    attachment: str = ""


def chat_of(flow: Flow, *, settings: Mapping[str, str], names: Names) -> list[Bubble]:
    """Give the beginning of the chat. `names` gives the names of the workspace's files, products …."""
    bubbles: list[Bubble] = []
    for bubble in _bubbles(flow, settings, names):
        bubbles.append(bubble)
        if len(bubbles) >= MOST_BUBBLES:
            break
    return bubbles


def _bubbles(flow: Flow, settings: Mapping[str, str], names: Names) -> Iterator[Bubble]:
    yield from _start(flow)
    steps = {step["id"]: step for step in steps_of(flow)}
    node, seen = flow.get("entry", ""), set[str]()
    while node in steps and node not in seen:
        seen.add(node)
        step, declared = steps[node], STEPS.get(steps[node]["type"])
        if declared is None:
            return
        config = step.get("config") or {}
        yield _bubble(declared, config, settings, names)
        port = _first_port(declared, config)
        answer = _answer(declared, config)
        if answer:
            yield Bubble("in", [answer])
        ways = step.get("next") or {}
        node = ways.get(port) or next(iter(ways.values()), "")


def _start(flow: Flow) -> Iterator[Bubble]:
    trigger = flow["trigger"]
    keywords = (trigger.get("config") or {}).get("keywords") or []
    if trigger["type"] in {"any_message", "first_message"}:
        yield Bubble("in", ["…"])
    elif keywords and isinstance(keywords[0], str):
        yield Bubble("in", [keywords[0]])


def _bubble(declared: StepType, config: dict[str, Any], settings: Mapping[str, str], names: Names) -> Bubble:
    choices = _choices(declared, config)
    attachment = ", ".join(_attachments(declared, config, names))
    own = [one for one in declared.fields if isinstance(one, Text) and one.name in TEXTS]
    is_message = declared.name not in UNSEEN and not declared.name.startswith(UNSEEN_PREFIX)
    said = [_said(one, config.get(one.name), settings) for one in own] if is_message else []
    texts = [text for text in said if text]
    if declared.name.startswith("send_") and not texts and not choices and not attachment:
        attachment = _(declared.label)
    if texts or choices or (attachment and declared.name.startswith("send_")):
        return Bubble("out", texts, choices, attachment)
    return Bubble("note", [_note(declared, config)])


def _said(declared: Text, value: Any, settings: Mapping[str, str]) -> str:
    if is_empty(value) or not isinstance(value, str):
        return _("[still to fill in]") if declared.required else ""
    text = with_settings(value[:LONGEST_SHOWN], settings)
    return BRACES.sub(lambda found: f"[{found[1].strip().rpartition('.')[2].replace('_', ' ')}]", text)


def _choices(declared: StepType, config: dict[str, Any]) -> list[str]:
    """Give the titles that a person can tap: the items that are ports, or the button of a link."""
    items = config.get(declared.port_per[1]) if declared.port_per else None
    given = items if isinstance(items, list) and not declared.ai and declared.name != "split" else []
    titles = [str(item.get("title") or "") for item in given if isinstance(item, dict)]
    if not declared.port_per and isinstance(config.get("title"), str) and declared.name.startswith("send_"):
        titles.append(config["title"])
    return [title for title in titles if title]


def _attachments(declared: StepType, config: dict[str, Any], names: Names) -> Iterator[str]:
    if not declared.name.startswith("send_"):
        return
    for one in declared.fields:
        if isinstance(one, Own) and one.of not in {"url", "phone"}:
            value = config.get(one.name)
            if not is_empty(value) and isinstance(value, str):
                yield names(one.of, value) or _(one.label)
            elif one.required:
                yield f"{_(one.label)}: {_('[still to fill in]')}"


def _first_port(declared: StepType, config: dict[str, Any]) -> str:
    if declared.port_per and config.get(declared.port_per[1]):
        return f"{declared.port_per[0]}_1"
    return declared.ports[0] if declared.ports else ""


def _answer(declared: StepType, config: dict[str, Any]) -> str:
    """Give the contact's answer that leads to the first port: the tapped choice, or `…` to a question."""
    choices = _choices(declared, config) if declared.port_per else []
    if choices:
        return choices[0]
    return "…" if declared.name.startswith("ask_") or declared.name == "wait_for_reply" else ""


def _note(declared: StepType, config: dict[str, Any]) -> str:
    if declared.name == "wait" and config.get("amount"):
        unit = str(config.get("unit", ""))
        return f"{_(declared.label)}: {config['amount']} {value_label(unit) if unit else ''}".strip()
    return _(declared.label)
