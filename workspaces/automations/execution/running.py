"""The working state of one call of `interpreter.advance`, and the ways in which a step can end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

from django.utils.translation import gettext_noop

from config.db import name_key
from workspaces.automations.execution.types import (
    MOST_MESSAGES,
    ChangeTag,
    ContactValues,
    DoneStep,
    Effect,
    Replied,
    RunContext,
    RunEvent,
    RunState,
    SendMessage,
    SetField,
    Started,
    Subscribe,
    Wait,
    WaitKind,
)
from workspaces.automations.flows.flow import Flow, Step

Config: TypeAlias = Mapping[str, Any]

# The contact's own values; all other fields are attributes.
CONTACT_VALUES: Final = frozenset({"name", "email", "phone", "city", "country", "language"})

LONGEST_ANSWER: Final = 2_000
# The key in `RunState.values` for answers as texts show them, such as a date in words.
SHOWN: Final = "shown"
# Details of steps. They are codes, and hold no text of the contact.
WAITING: Final = "waiting"
WAITING_FOR_TURN: Final = "waiting_for_turn"
EXPIRED: Final = "expired"
# A run waits so long for another run to end.
LONGEST_TURN: Final = timedelta(hours=24)
NOT_UNDERSTOOD: Final = "not_understood"
# The reasons for which a run fails, in sentences for people.
ERRORS: Final[Mapping[str, str]] = {
    "too_many_steps": gettext_noop("The automation ran too many steps."),
    "too_many_messages": gettext_noop("The automation sent too many messages to one contact."),
    "too_much_data": gettext_noop("The answers and details of this run are too long to be kept."),
    "missing_step": gettext_noop("The step that comes next is not there."),
    "step_unavailable": gettext_noop("This step cannot run yet."),
    "setting_missing": gettext_noop("The step needs a link that is not filled in in the settings."),
    "appointment_missing": gettext_noop("The step needs an appointment, and this run has none."),
    "template_missing": gettext_noop("No template is chosen for this step."),
    "address_refused": gettext_noop("The web address of this step is not valid."),
}


class StepFailed(Exception):
    """The step cannot be done, and the run fails. `code` is a key of `ERRORS`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Leave:
    """The step is done, and the run leaves it by this port."""

    port: str = "next"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """The step waits."""

    wait: Wait
    detail: str = WAITING


@dataclass(frozen=True, slots=True)
class Failure:
    """The step could not be done."""

    code: str


Outcome: TypeAlias = Leave | Pause | Failure


def changed_contact(contact: ContactValues, effect: Effect) -> ContactValues:
    """Give the contact as it is after an effect."""
    if isinstance(effect, ChangeTag):
        tag = frozenset((name_key(effect.tag),))
        return contact.changed(tags=contact.tags | tag if effect.is_added else contact.tags - tag)
    if isinstance(effect, SetField) and effect.field in CONTACT_VALUES:
        return contact.changed(**{effect.field: effect.value})
    if isinstance(effect, SetField):
        return contact.changed(fields={**contact.fields, effect.field: effect.value})
    return contact.changed(wants_marketing=effect.wants_marketing) if isinstance(effect, Subscribe) else contact


@dataclass(slots=True)
class Execution:
    """One call of `advance` while it runs.

    Changes of tags and fields are visible at once, though they only become effects. `effects` are those of the step
    that is being done. `values` has the contact's latest message besides the values of `RunState`.
    """

    flow: Flow
    context: RunContext
    state: RunState
    steps: dict[str, Step]
    contact: ContactValues
    node: str
    seq: int
    messages: int
    repeats: int
    turns: int
    answers: Mapping[str, str]
    ai: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]]
    effects: list[Effect] = field(default_factory=list)
    done: list[DoneStep] = field(default_factory=list)

    @classmethod
    def of(cls, flow: Flow, state: RunState, event: RunEvent, context: RunContext) -> "Execution":
        values = state.values
        if isinstance(event, Started | Replied) and event.text:
            values = {**values, "message": {"text": event.text[:LONGEST_ANSWER]}}
        return cls(
            flow,
            context,
            state,
            {step["id"]: step for step in flow["steps"]},
            context.contact,
            state.node,
            state.seq,
            state.messages,
            state.repeats,
            state.turns,
            state.answers,
            state.ai,
            values,
        )

    @property
    def config(self) -> Config:
        """The configuration of the step that is being done."""
        return self.steps[self.node].get("config") or {}

    @property
    def next_seq(self) -> int:
        """The number of the step that is being done."""
        return self.seq + 1

    def send(self, message: SendMessage) -> None:
        """Send a message. Raises `StepFailed` if the run has sent too many."""
        if self.messages >= MOST_MESSAGES:
            raise StepFailed("too_many_messages")
        self.messages += 1
        self.effects.append(message)

    def do(self, effect: Effect) -> None:
        """Do something else than sending. Later steps see the contact as it then is."""
        self.effects.append(effect)
        self.contact = changed_contact(self.contact, effect)

    def drop_effects(self) -> None:
        """Forget what the step was about to do."""
        self.messages -= sum(isinstance(effect, SendMessage) for effect in self.effects)
        self.effects = []

    def save_answer(self, name: str, value: str, shown: str = "") -> None:
        """Keep an answer. `shown` is its form for texts, if it is another one."""
        self.answers = {**self.answers, name: value[:LONGEST_ANSWER]}
        known = self.values.get(SHOWN, {})
        if shown not in ("", value) or name in known:
            self.values = {**self.values, SHOWN: {**known, name: (shown or value)[:LONGEST_ANSWER]}}

    def has_tag(self, tag: str) -> bool:
        return name_key(tag) in self.contact.tags

    def new_state(self, wait: Wait | None) -> RunState:
        return RunState(
            token=self.state.token,
            node=self.node,
            seq=self.seq,
            messages=self.messages,
            repeats=self.repeats,
            turns=self.turns,
            answers=self.answers,
            ai=self.ai,
            values=self.values,
            wait=wait,
        )


def wait_for_turn(run: Execution) -> Pause:
    """Wait until no other run listens to the conversation. Then the step begins anew."""
    return Pause(Wait(WaitKind.TURN, run.context.now + LONGEST_TURN), WAITING_FOR_TURN)


Begin: TypeAlias = Callable[[Execution, Config], Outcome]
# None says that the event is not what the step waits for.
Resume: TypeAlias = Callable[[Execution, Config, RunEvent], Outcome | None]


@dataclass(frozen=True, slots=True)
class Executor:
    """The code of a step type: how it begins, and how it goes on after a wait.

    `listens` says that it waits for a message of the contact, so that it must wait while another run listens.
    """

    begin: Begin
    resume: Resume | None = None
    listens: bool = False
