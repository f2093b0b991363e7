"""Steps that ask the contact something, understand the answer, and ask again if it does not fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from workspaces.automations.execution.answers import match_choice, parse_answer, parse_rating, parse_yes_no
from workspaces.automations.execution.message_steps import LONGEST_FOOTER, LONGEST_TITLE, cut, one_line, text_for
from workspaces.automations.execution.running import (
    EXPIRED,
    NOT_UNDERSTOOD,
    Config,
    Execution,
    Executor,
    Leave,
    Outcome,
    Pause,
)
from workspaces.automations.execution.types import (
    DEFAULT_WAIT_HOURS,
    MOST_REPEATS,
    Option,
    Replied,
    RunEvent,
    SendMessage,
    Subscribe,
    TimedOut,
    Wait,
    WaitKind,
)

LONGEST_ROW: Final = 24
LONGEST_DESCRIPTION: Final = 72
MOST_BUTTONS: Final = 3
HAPPY_FROM: Final = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer that fits: the port that it leads to, and the value to keep with its form for texts."""

    port: str
    value: str = ""
    shown: str = ""


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


def _in_language(run: Execution, sentence: str) -> str:
    with translation.override(message_language(run)):
        return gettext(sentence)


def _ask(question: Question, run: Execution, config: Config, text: str) -> None:
    options = question.options(run, config)
    style = question.style(run, config) if options else ""
    run.send(
        SendMessage(
            text=text_for(run, text, with_options=bool(options)) or _in_language(run, question.expected(config)),
            style=style,
            options=options,
            list_button=_list_button(run, config) if style == "list" else "",
            footer=one_line(run, config.get("footer"), LONGEST_FOOTER),
        )
    )


def _list_button(run: Execution, config: Config) -> str:
    return one_line(run, config.get("button"), LONGEST_TITLE) or _in_language(run, CHOOSE)


def _begin(question: Question, run: Execution, config: Config) -> Outcome:
    _ask(question, run, config, config.get("text") or "")
    return _listen(run, config)


def _listen(run: Execution, config: Config, detail: str = "") -> Pause:
    hours = config.get("wait_hours") or config.get("hours") or DEFAULT_WAIT_HOURS
    wait = Wait(WaitKind.REPLY, run.context.now + timedelta(hours=hours))
    return Pause(wait, detail) if detail else Pause(wait)


def _resume(question: Question, run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if isinstance(event, TimedOut):
        return Leave(question.in_silence, EXPIRED)
    if not isinstance(event, Replied):
        return None
    reading = question.read(run, config, event)
    if reading is None:
        return _not_understood(question, run, config)
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
    _ask(question, run, config, _in_language(run, question.expected(config)))
    return _listen(run, config, NOT_UNDERSTOOD)


def _ask_once_more(question: Question, run: Execution, config: Config) -> Outcome:
    run.turns += 1
    _ask(question, run, config, _in_language(run, ASK_TWICE))
    return _listen(run, config)


CHOOSE: Final = gettext_noop("Choose")
ASK_TWICE: Final = gettext_noop("Please confirm once more: do you agree?")
EXPECTED: Final[Mapping[str, str]] = {
    "text": gettext_noop("Please answer with a text."),
    "number": gettext_noop("Please answer with a number, such as 12."),
    "email": gettext_noop("Please send an e-mail address, such as name@example.com."),
    "phone": gettext_noop("Please send a phone number with its country code."),
    "date": gettext_noop("Please send a date, such as 24 December."),
    "file": gettext_noop("Please send a photo or a file."),
}
CHOOSE_ONE: Final = gettext_noop("Please choose one of these answers.")
RATE: Final = gettext_noop("Please answer with a number from 1 to 5.")
YES_OR_NO: Final = gettext_noop("Please answer with yes or no.")
YES: Final = gettext_noop("Yes")
NO: Final = gettext_noop("No")


# Answers in words ------------------------------------------------------------------------------------


def _read_answer(run: Execution, config: Config, reply: Replied) -> Reading | None:
    kind = config.get("expects") or "text"
    if kind == "file":
        return Reading("answered", reply.media) if reply.media else None
    context = run.context
    answer = parse_answer(
        kind,
        reply.text,
        languages=context.languages,
        country=run.contact.country or context.country,
        timezone=run.contact.timezone or context.timezone,
        now=context.now,
    )
    return Reading("answered", answer.value, answer.shown) if answer else None


# Choices ---------------------------------------------------------------------------------------------


def _items(config: Config, of: str) -> Sequence[Mapping[str, Any]]:
    return config.get(of) or ()


def _choice_options(of: str, prefix: str, longest: int, run: Execution, config: Config) -> tuple[Option, ...]:
    options: list[Option] = []
    titles = set[str]()
    for number, item in enumerate(_items(config, of), 1):
        title = one_line(run, item.get("title"), longest) or str(number)
        if title in titles:  # networks refuse two equal buttons
            title = cut(f"{number}. {title}", longest)
        titles.add(title)
        description = one_line(run, item.get("description"), LONGEST_DESCRIPTION)
        options.append(Option(f"{prefix}_{number}", title, description))
    return tuple(options)


def _read_choice(of: str, prefix: str, longest: int, run: Execution, config: Config, reply: Replied) -> Reading | None:
    options = _choice_options(of, prefix, longest, run, config)
    pressed = next((option for option in options if option.port == reply.port), None)
    if pressed is None:
        chosen = match_choice([option.title for option in options], reply.text, run.context.languages)
        pressed = None if chosen is None else options[chosen]
    return Reading(pressed.port, pressed.title) if pressed else None


def _choice(of: str, prefix: str, style: Callable[[Execution, Config], str], longest: int = LONGEST_TITLE) -> Question:
    return Question(
        read=partial(_read_choice, of, prefix, longest),
        expected=lambda config: CHOOSE_ONE,
        otherwise="other",
        in_silence="no_answer" if of == "options" else "other",
        options=partial(_choice_options, of, prefix, longest),
        style=style,
    )


def _style_of_choice(run: Execution, config: Config) -> str:
    if len(_items(config, "options")) <= MOST_BUTTONS:
        return "buttons"
    return _style_of_many(run, config)


def _style_of_many(run: Execution, config: Config) -> str:
    return "quick_replies" if run.context.platform in ("facebook", "instagram") else "list"


# Ratings and consent ---------------------------------------------------------------------------------


def _rating_options(run: Execution, config: Config) -> tuple[Option, ...]:
    return tuple(Option(f"rating_{stars}", "⭐" * stars) for stars in range(5, 0, -1))


def _read_rating(run: Execution, config: Config, reply: Replied) -> Reading | None:
    pressed = reply.port.removeprefix("rating_") if reply.port.startswith("rating_") else ""
    stars = parse_rating(pressed or reply.text)
    return Reading("happy" if stars >= HAPPY_FROM else "unhappy", str(stars)) if stars else None


def _consent_options(run: Execution, config: Config) -> tuple[Option, ...]:
    return Option("agreed", _in_language(run, YES)), Option("declined", _in_language(run, NO))


def _read_consent(run: Execution, config: Config, reply: Replied) -> Reading | None:
    if reply.port in ("agreed", "declined"):
        return Reading(reply.port)
    agreed = parse_yes_no(reply.text, run.context.languages)
    return None if agreed is None else Reading("agreed" if agreed else "declined")


def _accept_consent(run: Execution, config: Config, reading: Reading) -> None:
    """Keep the answer as `consent_marketing`, and for marketing change what the contact receives."""
    purpose = config.get("purpose") or ""
    run.save_answer(f"consent_{purpose}", "yes" if reading.port == "agreed" else "no")
    if purpose == "marketing":
        run.do(Subscribe(wants_marketing=reading.port == "agreed"))


QUESTIONS: Final[Mapping[str, Question]] = {
    "ask_question": Question(
        read=_read_answer,
        expected=lambda config: EXPECTED[config.get("expects") or "text"],
        otherwise="no_answer",
        in_silence="no_answer",
    ),
    "ask_choice": _choice("options", "option", _style_of_choice),
    "ask_rating": Question(
        read=_read_rating,
        expected=lambda config: RATE,
        otherwise="no_answer",
        in_silence="no_answer",
        options=_rating_options,
        style=_style_of_many,
    ),
    "ask_consent": Question(
        read=_read_consent,
        expected=lambda config: YES_OR_NO,
        otherwise="declined",
        in_silence="declined",
        options=_consent_options,
        style=lambda run, config: "buttons",
        accept=_accept_consent,
        times=lambda config: 2 if config.get("double_check") else 1,
    ),
    "send_buttons": _choice("buttons", "button", lambda run, config: "buttons"),
    "send_list": _choice("rows", "row", lambda run, config: "list", LONGEST_ROW),
    "show_quick_replies": _choice("replies", "reply", lambda run, config: "quick_replies"),
}


# A reply of any kind ---------------------------------------------------------------------------------


def _begin_waiting(run: Execution, config: Config) -> Outcome:
    return _listen(run, config)


def _replied(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if isinstance(event, TimedOut):
        return Leave("no_reply", EXPIRED)
    return Leave("replied") if isinstance(event, Replied) else None


QUESTION_EXECUTORS: Final[Mapping[str, Executor]] = {
    **{
        name: Executor(partial(_begin, question), partial(_resume, question), listens=True)
        for name, question in QUESTIONS.items()
    },
    "wait_for_reply": Executor(_begin_waiting, _replied, listens=True),
}
