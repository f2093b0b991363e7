"""A test chat: a flow runs for a made-up contact, with a clock that you move, and nothing leaves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Self
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from config.formats import format_day_time
from config.wall_clock import known_zone
from workspaces.automations.execution.effect_texts import sentence_of
from workspaces.automations.execution.internal_calls import InternalCall
from workspaces.automations.execution.interpreter import advance, begin_state, state_from_row
from workspaces.automations.execution.payment_steps import PAYMENT_RECEIVED
from workspaces.automations.execution.running import changed_contact
from workspaces.automations.execution.samples import sample_result, sample_values
from workspaces.automations.execution.types import (
    CallEnded,
    ContactValues,
    DoneStep,
    Happened,
    Progress,
    Replied,
    RunContext,
    RunEvent,
    RunState,
    RunStatus,
    SendMessage,
    Started,
    TimedOut,
    WaitKind,
)
from workspaces.automations.flows.flow import Flow, step_title
from workspaces.automations.flows.presentation import translated_step_title

# The transcript keeps so many lines. A chat that is longer ends.
MOST_LINES: Final = 300
MOST_HISTORY: Final = 20
LONGEST_TEXT: Final = 4_096
OPTION_NAMES: Final = ("port", "title", "description")


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line. `by` is `contact`, `business` or `note`. `options` are `{port, title, description}`, to press.

    `attachment` describes a file, a template or a link button. `node` is the step that it comes from, `step` its title.
    """

    by: str
    text: str
    at: datetime
    options: tuple[Mapping[str, str], ...] = ()
    attachment: str = ""
    node: str = ""
    step: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "by": self.by,
            "text": self.text,
            "at": self.at.isoformat(),
            "options": [dict(option) for option in self.options],
            "attachment": self.attachment,
            "node": self.node,
            "step": self.step,
        }


def line_from_json(stored: Mapping[str, Any]) -> TranscriptLine:
    """Read a line that `to_json` gave. Raises what a wrong form raises."""
    options = tuple({name: str(option[name]) for name in OPTION_NAMES} for option in stored["options"])
    texts = {name: str(stored[name]) for name in ("by", "text", "attachment", "node", "step")}
    return TranscriptLine(at=datetime.fromisoformat(stored["at"]), options=options, **texts)


def contact_line(text: str, at: datetime) -> TranscriptLine:
    return TranscriptLine("contact", text, at)


def note_line(text: str, at: datetime, *, node: str = "") -> TranscriptLine:
    return TranscriptLine("note", text, at, node=node)


def lines_of_step(flow: Flow, step: DoneStep, at: datetime) -> Iterator[TranscriptLine]:
    """Give a line for each effect of a step."""
    title = translated_step_title(step_title(flow, step.node))
    for effect in step.effects:
        if isinstance(effect, SendMessage):
            yield _message_line(effect, at, step.node, title)
        else:
            yield TranscriptLine("note", sentence_of(effect), at, node=step.node, step=title)


def _message_line(message: SendMessage, at: datetime, node: str, title: str) -> TranscriptLine:
    options = tuple(
        {"port": option.port, "title": option.title, "description": option.description} for option in message.options
    )
    return TranscriptLine("business", message.text, at, options, _attachment(message), node, title)


def _attachment(message: SendMessage) -> str:
    if message.template:
        return " · ".join([_("A template"), *message.parameters])
    if message.media:
        return _("A file")
    if message.reply_to_comment:
        return _("A public reply to the comment")
    return f"{message.button}: {message.url or message.phone}" if message.button else ""


# The chat --------------------------------------------------------------------------------------------


class SimulationRefused(ValueError):
    """The stored chat cannot be read."""


@dataclass(frozen=True, slots=True)
class WorkspaceValues:
    """What a flow reads of the workspace, as in `RunContext`."""

    settings: Mapping[str, str] = field(default_factory=dict)
    opening_hours: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    timezone: str = "UTC"
    languages: tuple[str, ...] = ("en",)
    country: str = ""
    currency: str = ""


@dataclass(slots=True)
class Simulation:
    """One test chat. Every method that does something adds lines to `transcript`.

    `status` says where the run stands. Texts that come when nothing waits for them change nothing.
    """

    flow: Flow
    platform: str
    contact: ContactValues
    workspace: WorkspaceValues
    now: datetime
    state: RunState
    status: RunStatus = RunStatus.WAITING
    transcript: list[TranscriptLine] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        flow: Flow,
        platform: str,
        contact: ContactValues | None = None,
        *,
        now: datetime,
        workspace: WorkspaceValues | None = None,
        text: str | None = None,
        token: str = "",
    ) -> Self:
        """Begin a chat, as if the trigger had just happened.

        `text` is the message that starts the run; without it, the trigger's first keyword. The token decides random
        splits; without it, each chat draws anew.
        """
        state = begin_state(flow, token=token or uuid4().hex)
        self = cls(flow, platform, contact or ContactValues(), workspace or WorkspaceValues(), now, state)
        self.state = replace(state, values=sample_values(flow["trigger"]["type"], self._context()))
        said = (_first_keyword(flow) if text is None else text)[:LONGEST_TEXT]
        if said:
            self._add(contact_line(said, now))
        self._advance(Started(said))
        return self

    @property
    def waits_for(self) -> WaitKind | None:
        return self.state.wait.kind if self.state.wait else None

    @property
    def is_listening(self) -> bool:
        return self.waits_for is WaitKind.REPLY

    def send(self, text: str, *, media: str = "") -> None:
        """Send a text or a file as the contact."""
        text = text[:LONGEST_TEXT]
        self._add(contact_line(text or _("A file"), self.now))
        self._reply(Replied(text, "document" if media else "text", media=media))

    def press(self, port: str) -> None:
        """Press a button of the latest message that has buttons. An unknown one changes nothing."""
        option = next((option for option in self._options() if option["port"] == port), None)
        if option is not None:
            self._add(contact_line(option["title"], self.now))
            self._reply(Replied(option["title"], "interactive", port=port))

    def wait_until_next(self) -> None:
        """Move the clock to the end of the wait. A question then goes on as if nobody had answered."""
        if self.state.wait is not None:
            self.now = max(self.now, self.state.wait.until)
            self._add(note_line(_("Time passes."), self.now))
            self._advance(TimedOut())

    @property
    def waits_for_payment(self) -> bool:
        return self.state.wait is not None and self.state.wait.key.startswith(f"{PAYMENT_RECEIVED}:")

    def pay(self) -> None:
        """Let the payment arrive for which the run waits."""
        if self.waits_for_payment:
            self._add(note_line(_("The payment arrives."), self.now))
            self._advance(Happened(PAYMENT_RECEIVED))

    def end_call(self, result: Mapping[str, object] | None, *, code: str = "failed") -> None:
        """Give the result of the call that the run waits for; None if the call failed."""
        if self.waits_for is WaitKind.CALL:
            self._advance(CallEnded(ok=False, code=code) if result is None else CallEnded(ok=True, result=result))

    def to_json(self) -> dict[str, object]:
        """Give the chat without its flow, for a session or a signed form field."""
        wait = self.state.wait
        contact = asdict(self.contact) | {"tags": sorted(self.contact.tags), "fields": dict(self.contact.fields)}
        return {
            "platform": self.platform,
            "contact": contact,
            "workspace": asdict(self.workspace) | {"languages": list(self.workspace.languages)},
            "now": self.now.isoformat(),
            "run": {
                "token": self.state.token,
                "node": self.state.node,
                "seq": self.state.seq,
                "messages": self.state.messages,
                "data": self.state.to_json(),
                "wait_kind": wait.kind.value if wait else None,
                "wait_key": wait.key if wait else "",
                "wait_until": wait.until.isoformat() if wait else None,
            },
            "status": self.status.value,
            "transcript": [line.to_json() for line in self.transcript],
        }

    @classmethod
    def from_json(cls, flow: Flow, stored: Mapping[str, Any]) -> Self:
        """Read a chat that `to_json` gave. Raises `SimulationRefused`."""
        try:
            return cls._read(flow, stored)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SimulationRefused from error

    @classmethod
    def _read(cls, flow: Flow, stored: Mapping[str, Any]) -> Self:
        until = stored["run"]["wait_until"]
        run = {**stored["run"], "wait_until": datetime.fromisoformat(until) if until else None}
        contact, workspace = stored["contact"], stored["workspace"]
        return cls(
            flow,
            stored["platform"],
            ContactValues(**{**contact, "tags": frozenset(contact["tags"])}),
            WorkspaceValues(**{**workspace, "languages": tuple(workspace["languages"])}),
            datetime.fromisoformat(stored["now"]),
            state_from_row(**run),
            RunStatus(stored["status"]),
            [line_from_json(line) for line in stored["transcript"][:MOST_LINES]],
        )

    def _reply(self, reply: Replied) -> None:
        if self.is_listening:
            self._advance(reply)
        else:
            self._add(note_line(_("No step waits for an answer here."), self.now))

    def _options(self) -> Sequence[Mapping[str, str]]:
        asked = (line.options for line in reversed(self.transcript) if line.options)
        return next(asked, ()) if self.is_listening else ()

    def _advance(self, event: RunEvent) -> None:
        if self.status is not RunStatus.WAITING or len(self.transcript) >= MOST_LINES:
            return
        progress = advance(self.flow, self.state, event, self._context())
        self.state, self.status = progress.state, progress.status
        for step in progress.steps:
            for effect in step.effects:
                self.contact = changed_contact(self.contact, effect)
        zone = ZoneInfo(known_zone(self.workspace.timezone, None))
        call = _internal_call(progress)
        for line in _lines(self.flow, progress, self.now, zone, is_waiting=call is None):
            self._add(line)
        if call is not None:
            self._advance(sample_result(call, self._context()))

    def _add(self, line: TranscriptLine) -> None:
        if len(self.transcript) < MOST_LINES:
            self.transcript.append(line)

    def _context(self) -> RunContext:
        said = [(line.by, line.text) for line in self.transcript if line.by in ("contact", "business")]
        return RunContext(
            now=self.now,
            platform=self.platform,
            timezone=self.workspace.timezone,
            languages=self.workspace.languages,
            currency=self.workspace.currency,
            country=self.workspace.country,
            contact=self.contact,
            settings=self.workspace.settings,
            opening_hours=self.workspace.opening_hours,
            message=next((text for by, text in reversed(said) if by == "contact"), ""),
            history=said[-MOST_HISTORY:],
        )


def _internal_call(progress: Progress) -> InternalCall | None:
    """Give the call of the product's own appointments or invoices for which the run waits."""
    effects = progress.steps[-1].effects if progress.status is RunStatus.WAITING and progress.steps else ()
    return next((effect for effect in effects if isinstance(effect, InternalCall)), None)


def _first_keyword(flow: Flow) -> str:
    keywords = (flow["trigger"].get("config") or {}).get("keywords")
    return str(keywords[0] or "") if isinstance(keywords, list | str) and keywords else ""


def _lines(
    flow: Flow, progress: Progress, now: datetime, zone: ZoneInfo, *, is_waiting: bool
) -> Iterator[TranscriptLine]:
    for step in progress.steps:
        yield from lines_of_step(flow, step, now)
    if progress.error is not None:
        yield note_line(_(progress.error.sentence), now, node=progress.error.node)
    elif progress.status is RunStatus.COMPLETED:
        yield note_line(_("The automation ends here."), now)
    elif (
        is_waiting
        and progress.state.wait is not None
        and progress.steps
        and progress.state.wait.kind is not WaitKind.REPLY
    ):
        until = format_day_time(progress.state.wait.until.astimezone(zone))
        yield note_line(_("The automation waits until %(until)s.") % {"until": until}, now)
