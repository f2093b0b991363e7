"""The types with which a flow runs: a run's state, what it reads, what it does, and where it stops.

Nothing here knows a database. The engine and the simulator call the same function, `interpreter.advance`:

    advance(flow, state, event, context) -> Progress

It runs steps until one waits, ends or needs another system. `state` and `Progress.state` are values: the function
never changes what it is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeAlias, TypedDict

from workspaces.automations.execution.internal_calls import InternalCall

# Limits of one run. A flow that meets one of them fails with the limit's error code.
MOST_STEPS_AT_ONCE = 200
MOST_STEPS = 1_000
MOST_MESSAGES = 100
# A question is asked this many times more after an answer that does not fit.
MOST_REPEATS = 2
# A step that waits for a person and has no time of its own waits for so many hours.
DEFAULT_WAIT_HOURS = 72
# The answers, details and outside results of one run as JSON.
MOST_STATE_BYTES = 64 * 1024


class WaitKind(StrEnum):
    """What a waiting run waits for. Each wait also ends at its `until`."""

    REPLY = "reply"  # a message or a pressed button; the run listens to the conversation
    TIME = "time"  # a moment; a fact with the key `Wait.key` may move it
    CALL = "call"  # the result of a call of another system, or of the product's own appointments and invoices
    EVENT = "event"  # a fact with the key `Wait.key`
    TURN = "turn"  # another run listens to this conversation; the same step begins when that run has ended


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause of a run. `until` is always set: no run waits without a deadline."""

    kind: WaitKind
    until: datetime
    key: str = ""

    @property
    def listens(self) -> bool:
        return self.kind is WaitKind.REPLY


@dataclass(frozen=True, slots=True)
class RunState:
    """All that a run remembers between two pauses. `to_json` and `state_from_row` are its form in a row.

    `token` names the run in the payloads of its buttons. `node` is the step at which it waits, or where it begins.
    `seq` counts the steps that were done; it grows by one with each. `repeats` counts how often the waiting question
    was asked again. `turns` counts answers of an `ai_answer` step, and agreements to a question of consent. `answers`
    and `ai` hold the values of the variables `{{answers.…}}` and `{{ai.…}}`. `values` are those of the fact that
    started the run, such as `{"appointment": {"date": …}}`, the contact's latest message as `{"message": {"text": …}}`,
    and under `shown` the answers in their form for texts.
    """

    token: str
    node: str
    seq: int = 0
    messages: int = 0
    repeats: int = 0
    turns: int = 0
    answers: Mapping[str, str] = field(default_factory=dict)
    ai: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wait: Wait | None = None

    def changed(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def to_json(self) -> dict[str, object]:
        """Give the part that the row's `data` holds. Token, node, seq, messages and wait have columns of their own."""
        return {
            "repeats": self.repeats,
            "turns": self.turns,
            "answers": dict(self.answers),
            "ai": dict(self.ai),
            "values": {name: dict(values) for name, values in self.values.items()},
        }


# What happens to a run -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins at the flow's entry. `text` is the message that started it, if one did."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Replied:
    """The contact wrote, or pressed a button.

    `port` is the port of a pressed button of this very step, such as `button_2`. `media` is the uuid of a received
    file. `type` is the message's type (`text`, `image`, `interactive` …).
    """

    text: str
    type: str = "text"
    port: str = ""
    media: str = ""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The wait's deadline has passed."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """An outside call ended. `ok` says whether there is a result; `code` is the error's code, else "".

    For HTTP `result` is `{"status": 200, "text": "…"}`. For the A.I. it is the object that the call's schema describes.
    """

    ok: bool
    result: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True, slots=True)
class Happened:
    """A fact for which the run waited, such as a payment, with its values."""

    kind: str
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


RunEvent: TypeAlias = Started | Replied | TimedOut | CallEnded | Happened


# What a run reads ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContactValues:
    """The contact. `tags` are keys for comparison (`name_key`); `fields` are the contact's attributes."""

    name: str = ""
    phone: str = ""
    email: str = ""
    city: str = ""
    country: str = ""
    language: str = ""
    timezone: str = ""
    tags: frozenset[str] = frozenset()
    fields: Mapping[str, str] = field(default_factory=dict)
    wants_marketing: bool = True

    def changed(self, **changes: Any) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything outside the flow and the run's state that a step reads, as it was when the run went on.

    `settings` are the values of `{{workspace.…}}`. `opening_hours` has a list of `["09:00", "17:00"]` for each weekday
    (`monday` …) in the workspace's `timezone`; empty if none are set. `languages` are the contact's and the
    workspace's, without repetition. `may_listen` is False while another run listens to the same conversation.
    `history` are the conversation's latest messages, oldest first, as `("contact" or "business", text)`; only A.I.
    steps read it. `country` is the workspace's. `calendars` are opening hours of people and rooms by their uuids; a
    calendar that is not among them is open as the workspace is. `facts` are further texts by short names that the A.I.
    may answer from, such as a list of services with prices.
    """

    now: datetime
    platform: str
    timezone: str = "UTC"
    languages: tuple[str, ...] = ("en",)
    currency: str = ""
    contact: ContactValues = ContactValues()
    settings: Mapping[str, str] = field(default_factory=dict)
    opening_hours: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    message: str = ""
    may_listen: bool = True
    history: Sequence[tuple[str, str]] = ()
    country: str = ""
    calendars: Mapping[str, Mapping[str, Sequence[Sequence[str]]]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


# What a run does -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Option:
    """A button, list row or quick reply: the port that it leads to and its text."""

    port: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Send a message in the run's conversation. Texts are rendered, without variables.

    `options` are shown as `style`: buttons, a list (with `list_button`) or quick replies. `media` is a file's uuid,
    `template` a template's id in the workspace with its `parameters`. `url` and `phone` belong to a link button or a
    call button with the text `button`. `reply_to_comment` answers the comment that started the run, in public.
    """

    text: str = ""
    media: str = ""
    template: str = ""
    template_language: str = ""
    parameters: tuple[str, ...] = ()
    style: str = ""  # "", "buttons", "list", "quick_replies", "link", "call"
    options: tuple[Option, ...] = ()
    list_button: str = ""
    footer: str = ""
    button: str = ""
    url: str = ""
    phone: str = ""
    reply_to_comment: bool = False


@dataclass(frozen=True, slots=True)
class ChangeTag:
    tag: str
    is_added: bool


@dataclass(frozen=True, slots=True)
class SetField:
    """Set a contact's attribute, or its name, email, phone, city, country or language."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Opt the contact into marketing, or out of it."""

    wants_marketing: bool


@dataclass(frozen=True, slots=True)
class AssignConversation:
    """Assign the conversation to the member with this e-mail address."""

    email: str


@dataclass(frozen=True, slots=True)
class HandOver:
    """People take over: the conversation opens, and automations pause in it."""


@dataclass(frozen=True, slots=True)
class CloseConversation:
    pass


@dataclass(frozen=True, slots=True)
class AddNote:
    text: str


@dataclass(frozen=True, slots=True)
class CreateTask:
    """Create a task about the contact, for the member with this e-mail address, or for nobody ("")."""

    title: str
    due_hours: int | None = None
    email: str = ""


@dataclass(frozen=True, slots=True)
class NotifyTeam:
    """Notify the workspace's people in the app, or by e-mail; `recipients` are further e-mail addresses."""

    text: str
    by: str = "app"
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StartAutomation:
    """Start another automation of the workspace for the same contact, one level deeper."""

    automation: str


@dataclass(frozen=True, slots=True)
class CallHttp:
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


class Schema(TypedDict, total=False):
    """A JSON schema of an answer of the A.I., as far as `providers.ai.fits` knows it."""

    type: str | Sequence[str]
    enum: Sequence[str]
    properties: "Mapping[str, Schema]"
    required: Sequence[str]
    items: "Schema"
    maxLength: int
    maxItems: int
    additionalProperties: bool


@dataclass(frozen=True, slots=True)
class CallAi:
    """Ask the A.I. `purpose` is answer, classify or extract; `schema` is the JSON schema of the result.

    `account` is the uuid of an A.I. account of the agency, or "" for its default.
    """

    purpose: str
    instructions: str
    schema: Schema
    account: str = ""
    message: str = ""
    history: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


Effect: TypeAlias = (
    SendMessage
    | ChangeTag
    | SetField
    | Subscribe
    | AssignConversation
    | HandOver
    | CloseConversation
    | AddNote
    | CreateTask
    | NotifyTeam
    | StartAutomation
    | CallHttp
    | CallAi
    | InternalCall
)


# Where a run stops -----------------------------------------------------------------------------------


class RunStatus(StrEnum):
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DoneStep:
    """A step that was done: its place in the run, and the port that it left by ("" at an end, or while it waits).

    `effects` are this step's, in their order. `detail` says why in a few words, such as the answer that did not fit;
    it holds no text of the contact.
    """

    seq: int
    node: str
    port: str = ""
    effects: tuple[Effect, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunError:
    """The reason for which a run failed: a code, the step, and a sentence for people."""

    code: str
    node: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The result of `advance`: the new state, the steps that were done, and where the run stands.

    `state.wait` is set exactly if the status is waiting.
    """

    state: RunState
    status: RunStatus
    steps: tuple[DoneStep, ...] = ()
    error: RunError | None = None
