"""Flows for people to read: a preview as a chat, a summary of each step, and labels of stored values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from workspaces.automations.flows.fields import (
    AgencyAccount,
    Boolean,
    Choice,
    CustomerValue,
    Field,
    ListOf,
    Number,
    Text,
    Variable,
    is_empty,
)
from workspaces.automations.flows.flow import TRIGGER_NODE, Config, Flow, Step, step_title, steps_of, with_settings
from workspaces.automations.flows.privacy import VARIABLE
from workspaces.automations.flows.registry import STEPS
from workspaces.automations.flows.types import StepType

VALUE_LABELS: dict[str, Promise] = {
    "after_appointment": pgettext_lazy("in an automation", "after the appointment"),
    "agreed": pgettext_lazy("in an automation", "agreed"),
    "all": pgettext_lazy("in an automation", "all"),
    "amount": pgettext_lazy("in an automation", "an amount"),
    "answered": pgettext_lazy("in an automation", "answered"),
    "always": pgettext_lazy("in an automation", "always"),
    "any": pgettext_lazy("in an automation", "any"),
    "app": pgettext_lazy("in an automation", "in the app"),
    "appointment": pgettext_lazy("in an automation", "an appointment"),
    "before_appointment": pgettext_lazy("in an automation", "before the appointment"),
    "bestseller": pgettext_lazy("in an automation", "the bestseller"),
    "booked": pgettext_lazy("in an automation", "booked"),
    "cancel": pgettext_lazy("in an automation", "cancel"),
    "chosen": pgettext_lazy("in an automation", "a chosen one"),
    "closed": pgettext_lazy("in an automation", "closed"),
    "confirm": pgettext_lazy("in an automation", "confirm"),
    "confirmation": pgettext_lazy("in an automation", "confirmation"),
    "contains": pgettext_lazy("in an automation", "contains"),
    "data_storage": pgettext_lazy("in an automation", "keeping data"),
    "date": pgettext_lazy("in an automation", "a date"),
    "days": pgettext_lazy("in an automation", "days"),
    "declined": pgettext_lazy("in an automation", "declined"),
    "deposit": pgettext_lazy("in an automation", "a deposit"),
    "done": pgettext_lazy("in an automation", "done"),
    "email": pgettext_lazy("in an automation", "e-mail"),
    "evening": pgettext_lazy("in an automation", "evening"),
    "exact": pgettext_lazy("in an automation", "exactly"),
    "failure": pgettext_lazy("in an automation", "failure"),
    "file": pgettext_lazy("in an automation", "a file"),
    "follow_up": pgettext_lazy("in an automation", "follow-up"),
    "found": pgettext_lazy("in an automation", "found"),
    "friendly": pgettext_lazy("in an automation", "friendly"),
    "happy": pgettext_lazy("in an automation", "happy"),
    "high": pgettext_lazy("in an automation", "high"),
    "hours": pgettext_lazy("in an automation", "hours"),
    "is": pgettext_lazy("in an automation", "is"),
    "is_not": pgettext_lazy("in an automation", "is not"),
    "is_not_set": pgettext_lazy("in an automation", "is not set"),
    "is_set": pgettext_lazy("in an automation", "is set"),
    "last_viewed": pgettext_lazy("in an automation", "the last viewed"),
    "less_than": pgettext_lazy("in an automation", "less than"),
    "low": pgettext_lazy("in an automation", "low"),
    "marketing": pgettext_lazy("in an automation", "marketing"),
    "minutes": pgettext_lazy("in an automation", "minutes"),
    "more_than": pgettext_lazy("in an automation", "more than"),
    "morning": pgettext_lazy("in an automation", "morning"),
    "never": pgettext_lazy("in an automation", "never"),
    "newest": pgettext_lazy("in an automation", "the newest"),
    "next_opening": pgettext_lazy("in an automation", "next opening"),
    "no": pgettext_lazy("in an automation", "no"),
    "no_answer": pgettext_lazy("in an automation", "no answer"),
    "no_reply": pgettext_lazy("in an automation", "no reply"),
    "not_booked": pgettext_lazy("in an automation", "not booked"),
    "not_done": pgettext_lazy("in an automation", "not done"),
    "not_found": pgettext_lazy("in an automation", "not found"),
    "not_paid": pgettext_lazy("in an automation", "not paid"),
    "number": pgettext_lazy("in an automation", "a number"),
    "offer": pgettext_lazy("in an automation", "offer"),
    "open": pgettext_lazy("in an automation", "open"),
    "order": pgettext_lazy("in an automation", "an order"),
    "other": pgettext_lazy("in an automation", "other"),
    "paid": pgettext_lazy("in an automation", "paid"),
    "payment": pgettext_lazy("in an automation", "payment"),
    "phone": pgettext_lazy("in an automation", "a phone number"),
    "professional": pgettext_lazy("in an automation", "professional"),
    "reminder": pgettext_lazy("in an automation", "reminder"),
    "reminders": pgettext_lazy("in an automation", "reminders"),
    "replied": pgettext_lazy("in an automation", "replied"),
    "reschedule": pgettext_lazy("in an automation", "reschedule"),
    "review": pgettext_lazy("in an automation", "review"),
    "short": pgettext_lazy("in an automation", "short"),
    "sms": pgettext_lazy("in an automation", "SMS"),
    "starts_with": pgettext_lazy("in an automation", "starts with"),
    "subscribe": pgettext_lazy("in an automation", "subscribe"),
    "success": pgettext_lazy("in an automation", "success"),
    "text": pgettext_lazy("in an automation", "a text"),
    "unclear": pgettext_lazy("in an automation", "if it is unclear"),
    "unhappy": pgettext_lazy("in an automation", "unhappy"),
    "unsubscribe": pgettext_lazy("in an automation", "unsubscribe"),
    "unsure": pgettext_lazy("in an automation", "unsure"),
    "update": pgettext_lazy("in an automation", "update"),
    "yes": pgettext_lazy("in an automation", "yes"),
}
# Ports that belong to an item of a list, such as `button_2`.
ITEM_LABELS: dict[str, Promise] = {
    "button": pgettext_lazy("in an automation", "button %(number)s"),
    "option": pgettext_lazy("in an automation", "option %(number)s"),
    "part": pgettext_lazy("in an automation", "part %(number)s"),
    "reply": pgettext_lazy("in an automation", "reply %(number)s"),
    "row": pgettext_lazy("in an automation", "row %(number)s"),
    "topic": pgettext_lazy("in an automation", "topic %(number)s"),
}


def value_label(value: str) -> str:
    """Give the label of a choice or a port. A value without a label, such as GET, stays as it is."""
    prefix, _underscore, number = value.rpartition("_")
    if number.isdigit() and prefix in ITEM_LABELS:
        return str(ITEM_LABELS[prefix]) % {"number": number}
    return str(VALUE_LABELS.get(value, value.replace("_", " ")))


# The preview follows one path through the flow, with the first answer each time.

MOST_LINES = 40
LONGEST_SHOWN = 4_096
# Texts of these steps are for the team or for the A.I., so the chat shows none of them as a message.
INTERNAL_STEPS = frozenset({"notify_team", "create_task", "add_note", "add_tag", "remove_tag", "has_tag", "set_field"})
INTERNAL_PREFIX = "ai_"
TEXTS = ("text", "caption", "footer")

NameLookup = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line of a chat: a message `in`, a message `out`, or a `note` about a step without a message."""

    side: Literal["in", "out", "note"]
    texts: list[str]
    choices: list[str] = field(default_factory=list)
    attachment: str = ""


def chat_preview(flow: Flow, *, settings: Mapping[str, str], names: NameLookup) -> list[ChatLine]:
    """Give the beginning of the chat. `names` gives the names of the workspace's files, products …."""
    bubbles: list[ChatLine] = []
    for bubble in _bubbles(flow, settings, names):
        bubbles.append(bubble)
        if len(bubbles) >= MOST_LINES:
            break
    return bubbles


def _bubbles(flow: Flow, settings: Mapping[str, str], names: NameLookup) -> Iterator[ChatLine]:
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
        answer = _chat_answer(declared, config)
        if answer:
            yield ChatLine("in", [answer])
        ways = step.get("next") or {}
        node = ways.get(port) or next(iter(ways.values()), "")


def _start(flow: Flow) -> Iterator[ChatLine]:
    trigger = flow["trigger"]
    keywords = (trigger.get("config") or {}).get("keywords")
    if trigger["type"] in {"any_message", "first_message"}:
        yield ChatLine("in", ["…"])
    elif isinstance(keywords, list | str) and keywords and isinstance(keywords[0], str):
        yield ChatLine("in", [keywords[0]])


def _bubble(declared: StepType, config: Config, settings: Mapping[str, str], names: NameLookup) -> ChatLine:
    choices = _choices(declared, config)
    attachment = ", ".join(_attachments(declared, config, names))
    own = [one for one in declared.fields if isinstance(one, Text) and one.name in TEXTS]
    is_message = declared.name not in INTERNAL_STEPS and not declared.name.startswith(INTERNAL_PREFIX)
    said = [_shown_text(one, config.get(one.name), settings) for one in own] if is_message else []
    texts = [text for text in said if text]
    if declared.name.startswith("send_") and not texts and not choices and not attachment:
        attachment = _(declared.label)
    if texts or choices or (attachment and declared.name.startswith("send_")):
        return ChatLine("out", texts, choices, attachment)
    return ChatLine("note", [_note(declared, config)])


def _shown_text(declared: Text, value: object, settings: Mapping[str, str]) -> str:
    if is_empty(value) or not isinstance(value, str):
        return _("[still to fill in]") if declared.required else ""
    text = with_settings(value[:LONGEST_SHOWN], settings)
    return VARIABLE.sub(lambda found: f"[{found[1].strip().rpartition('.')[2].replace('_', ' ')}]", text)


def _choices(declared: StepType, config: Config) -> list[str]:
    """Give the titles that a person can tap: the items that are ports, or the button of a link."""
    items = config.get(declared.port_per[1]) if declared.port_per else None
    given = items if isinstance(items, list) and not declared.ai and declared.name != "split" else []
    titles = [str(item.get("title") or "") for item in given if isinstance(item, dict)]
    if not declared.port_per and isinstance(title := config.get("title"), str) and declared.name.startswith("send_"):
        titles.append(title)
    return [title for title in titles if title]


def _attachments(declared: StepType, config: Config, names: NameLookup) -> Iterator[str]:
    if not declared.name.startswith("send_"):
        return
    for one in declared.fields:
        if isinstance(one, CustomerValue) and one.of not in {"url", "phone"}:
            value = config.get(one.name)
            if not is_empty(value) and isinstance(value, str):
                yield names(one.of, value) or _(one.label)
            elif one.required:
                yield f"{_(one.label)}: {_('[still to fill in]')}"


def _first_port(declared: StepType, config: Config) -> str:
    if declared.port_per and config.get(declared.port_per[1]):
        return f"{declared.port_per[0]}_1"
    return declared.ports[0] if declared.ports else ""


def _chat_answer(declared: StepType, config: Config) -> str:
    """Give the contact's answer that leads to the first port: the tapped choice, or `…` to a question."""
    choices = _choices(declared, config) if declared.port_per else []
    if choices:
        return choices[0]
    return "…" if declared.name.startswith("ask_") or declared.name == "wait_for_reply" else ""


def _note(declared: StepType, config: Config) -> str:
    if declared.name == "wait" and config.get("amount"):
        unit = str(config.get("unit", ""))
        return f"{_(declared.label)}: {config['amount']} {value_label(unit) if unit else ''}".strip()
    return _(declared.label)


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


def translated_step_title(title: str) -> str:
    """Translate a step's title into the page's language. Copies store it in English (`Step 3: Ask a question`).

    A title of another form stays as it is.
    """
    place, _colon, label = title.partition(": ")
    values = {"number": place.removeprefix("Step "), "label": _(label) if label else ""}
    if place == "Start":
        return _("Start: %(label)s") % values
    return _("Step %(number)s: %(label)s") % values if label and values["number"].isdigit() else title


def _summary(step: Step, numbers: dict[str, int], settings: Mapping[str, str]) -> StepSummary:
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


def _branches(step: Step, numbers: dict[str, int]) -> Branches:
    """Give the branches, first those of a list's items in their order. A step that only leads to the next has none."""
    ports = sorted(step.get("next", {}).items(), key=lambda port: (not port[0][-1:].isdigit(), len(port[0]), port[0]))
    branches = [(branch_label(port, step), numbers[to]) for port, to in ports if to in numbers]
    return [] if branches == [("", numbers[step["id"]] + 1)] else branches


def node_title(flow: Flow, node: str) -> str:
    """Give the title of a node in the page's language. A node that the flow does not have keeps its id."""
    known = node == TRIGGER_NODE or any(step["id"] == node for step in steps_of(flow))
    return translated_step_title(step_title(flow, node)) if known else node


def port_label(flow: Flow, node: str, port: str) -> str:
    """Give the name of the port by which a run left a step: the title of a button, or the label of the port."""
    step = next((one for one in steps_of(flow) if one["id"] == node), None)
    if port == "next" or step is None:
        return _("on to the next step") if port == "next" else value_label(port)
    return branch_label(port, step)


def _config(step: Step) -> Config:
    config = step.get("config")
    return config if isinstance(config, dict) else {}


def _texts(field: Field, value: object) -> Iterator[str]:
    if isinstance(field, Text) and isinstance(value, str):
        yield value
    elif isinstance(field, ListOf) and isinstance(value, list):
        yield from filter(None, (item_text(field, one) for one in value))


def item_text(field: ListOf, value: object) -> str:
    """Write an item of a list in one line."""
    if field.plain is not None:
        return str(value or "")
    given = value if isinstance(value, dict) else {}
    shown = [one for one in field.of if isinstance(one, Text | Choice | Number | Variable)]
    return ": ".join(_plain(one, given[one.name]) for one in shown if not is_empty(given.get(one.name)))


def _setting(field: Field, value: object) -> str:
    is_shown = isinstance(field, Choice | Number) and not is_empty(value)
    return f"{_(field.label)}: {_plain(field, value)}" if is_shown else ""


def _plain(field: Field, value: object) -> str:
    """Write a value for people, with the label of a choice."""
    return value_label(str(value)) if isinstance(field, Choice) else str(value)


def branch_label(port: str, step: Step) -> str:
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


# The kinds of values that pages do not show again.
SECRET_KINDS = frozenset({"secret"})


def value_text(field: Field, value: object, names: NameLookup) -> str:
    """Write any value of a step for people; empty for a value that is not filled in."""
    if is_empty(value):
        return ""
    if isinstance(field, ListOf):
        items = value if isinstance(value, list) else []
        return "\n".join(filter(None, (item_text(field, one) for one in items))) or str(len(items))
    if isinstance(field, Boolean):
        return value_label("yes" if value else "no")
    if isinstance(field, CustomerValue | AgencyAccount):
        is_secret = isinstance(field, CustomerValue) and field.of in SECRET_KINDS
        named = names(field.of, str(value)) if isinstance(field, CustomerValue) and not is_secret else ""
        return _("filled in") if is_secret else named or str(value)
    return _plain(field, value)
