"""How questions are asked: a reply is accepted, read back, or the question is asked again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from workspaces.automations.execution.message_steps import LONGEST_FOOTER, LONGEST_TITLE, one_line, text_for
from workspaces.automations.execution.running import EXPIRED, NOT_UNDERSTOOD, Config, Execution, Leave, Outcome, Pause
from workspaces.automations.execution.types import (
    DEFAULT_WAIT_HOURS,
    MOST_REPEATS,
    Option,
    Replied,
    RunEvent,
    SendMessage,
    TimedOut,
    Wait,
    WaitKind,
)

CHOOSE: Final = gettext_noop("Choose")
ASK_TWICE: Final = gettext_noop("Please confirm once more: do you agree?")
IS_RIGHT: Final = gettext_noop("%(date)s \u2013 is that right?")


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer that fits: the port that it leads to, and the value to keep with its form for texts.

    With `needs_consent` the contact must first agree that this is what was meant.
    """

    port: str
    value: str = ""
    shown: str = ""
    needs_consent: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """How a type of question is asked and understood.

    `options` are the answers to tap, `style` their form. `expected` gives the short text with which it is asked again.
    After too many wrong answers the run goes on by the port `otherwise`, and by `in_silence` if nobody answers.
    `accept` does what an answer causes besides. `times` is how often the contact must agree, counted in `turns`.
    """

    read: Callable[[Execution, Config, Replied], Reading | None]
    expected: Callable[[Config], str]
    otherwise: str
    in_silence: str
    options: Callable[[Execution, Config], tuple[Option, ...]] = field(default=lambda run, config: ())
    style: Callable[[Execution, Config], str] = field(default=lambda run, config: "")
    accept: Callable[[Execution, Config, Reading], None] = field(default=lambda run, config, reading: None)
    times: Callable[[Config], int] = field(default=lambda config: 1)


def message_language(run: Execution) -> str:
    """Give the language of our own texts to the contact: the first of the contact's and workspace's that we have."""
    for language in run.context.languages:
        try:
            return translation.get_supported_language_variant(language)
        except LookupError:
            continue
    return "en"


def in_language(run: Execution, sentence: str) -> str:
    with translation.override(message_language(run)):
        return gettext(sentence)


def ask(question: Question, run: Execution, config: Config, text: str) -> None:
    options = question.options(run, config)
    style = question.style(run, config) if options else ""
    run.send(
        SendMessage(
            text=text_for(run, text, with_options=bool(options)) or in_language(run, question.expected(config)),
            style=style,
            options=options,
            list_button=_list_button(run, config) if style == "list" else "",
            footer=one_line(run, config.get("footer"), LONGEST_FOOTER),
        )
    )


def _list_button(run: Execution, config: Config) -> str:
    return one_line(run, config.get("button"), LONGEST_TITLE) or in_language(run, CHOOSE)


def begin(question: Question, run: Execution, config: Config) -> Outcome:
    _forget_understood(run)
    ask(question, run, config, config.get("text") or "")
    return listen(run, config)


def listen(run: Execution, config: Config, detail: str = "") -> Pause:
    hours = config.get("wait_hours") or config.get("hours") or DEFAULT_WAIT_HOURS
    wait = Wait(WaitKind.REPLY, run.context.now + timedelta(hours=hours))
    return Pause(wait, detail) if detail else Pause(wait)


def resume(question: Question, run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if isinstance(event, TimedOut):
        outcome: Outcome | None = Leave(question.in_silence, EXPIRED)
    elif isinstance(event, Replied) and not _is_old_button(question, run, config, event):
        outcome = _hear(question, run, config, event)
    else:
        outcome = None
    if isinstance(outcome, Leave):
        _forget_understood(run)
    return outcome


def _is_old_button(question: Question, run: Execution, config: Config, reply: Replied) -> bool:
    """Say whether a button was pressed that the question does not have any more. It changes nothing."""
    return bool(reply.port) and reply.port not in {option.port for option in question.options(run, config)}


def _hear(question: Question, run: Execution, config: Config, reply: Replied) -> Outcome:
    """Take a reply: accept it, read it back, or ask again."""
    reading = question.read(run, config, reply)
    if reading is None:
        return _not_understood(question, run, config)
    if reading.port == DENIED:
        return _denied(question, run, config)
    if reading.needs_consent:
        return _read_back(question, run, config, reading)
    run.repeats = 0
    if reading.port == "agreed" and run.turns + 1 < question.times(config):
        return _ask_once_more(question, run, config)
    if config.get("save_as"):
        run.save_answer(config["save_as"], reading.value, reading.shown)
    question.accept(run, config, reading)
    return Leave(reading.port)


def _not_understood(question: Question, run: Execution, config: Config) -> Outcome:
    if run.repeats >= MOST_REPEATS:
        return Leave(question.otherwise, NOT_UNDERSTOOD)
    run.repeats += 1
    known = run.values.get(UNDERSTOOD)
    ask(question, run, config, _is_right(run, known) if known else in_language(run, question.expected(config)))
    return listen(run, config, NOT_UNDERSTOOD)


def _ask_once_more(question: Question, run: Execution, config: Config) -> Outcome:
    run.turns += 1
    ask(question, run, config, in_language(run, ASK_TWICE))
    return listen(run, config)


# What was understood ---------------------------------------------------------------------------------

# The key in `RunState.values` for a date that the contact has yet to agree to: its value, its words, and a number that
# its buttons carry. So the buttons of an earlier date do nothing.
UNDERSTOOD: Final = "understood"
DENIED: Final = "denied"


def _read_back(question: Question, run: Execution, config: Config, reading: Reading) -> Outcome:
    """Ask whether this was meant. It counts as asking again."""
    if run.repeats >= MOST_REPEATS:
        return Leave(question.otherwise, NOT_UNDERSTOOD)
    run.repeats += 1
    known = {"value": reading.value, "shown": reading.shown, "number": str(run.repeats)}
    run.values = {**run.values, UNDERSTOOD: known}
    ask(question, run, config, _is_right(run, known))
    return listen(run, config)


def _denied(question: Question, run: Execution, config: Config) -> Outcome:
    """Ask again after something else was meant. Reading it back has counted already."""
    if run.repeats >= MOST_REPEATS:
        return Leave(question.otherwise, NOT_UNDERSTOOD)
    _forget_understood(run)
    ask(question, run, config, in_language(run, question.expected(config)))
    return listen(run, config, NOT_UNDERSTOOD)


def _forget_understood(run: Execution) -> None:
    run.values = {name: values for name, values in run.values.items() if name != UNDERSTOOD}


def _is_right(run: Execution, known: Mapping[str, str]) -> str:
    return in_language(run, IS_RIGHT) % {"date": known["shown"]}
