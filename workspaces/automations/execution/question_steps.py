"""The steps that ask the contact something: what they offer to tap, and how they understand the answer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from django.utils.translation import gettext_noop

from workspaces.automations.execution.answers import (
    MOST_SEARCHED,
    Answer,
    match_choice,
    parse_answer,
    parse_rating,
    parse_yes_no,
)
from workspaces.automations.execution.message_steps import LONGEST_TITLE, cut, one_line
from workspaces.automations.execution.questions import (
    DENIED,
    UNDERSTOOD,
    Question,
    Reading,
    begin,
    in_language,
    listen,
    resume,
)
from workspaces.automations.execution.running import EXPIRED, Config, Execution, Executor, Leave, Outcome
from workspaces.automations.execution.types import Option, Replied, RunEvent, Subscribe, TimedOut

LONGEST_ROW: Final = 24
LONGEST_DESCRIPTION: Final = 72
MOST_BUTTONS: Final = 3
HAPPY_FROM: Final = 4
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
    if consent := read_consent_to_date(run, reply):
        return consent
    answer = parse(run, kind, corrected(run, reply.text))
    if answer is None:
        return None
    confirm = config.get("confirm") or "unclear"
    needs_consent = kind == "date" and (confirm == "always" or (confirm == "unclear" and not answer.is_clear))
    return Reading("answered", answer.value, answer.shown, needs_consent)


def corrected(run: Execution, text: str) -> str:
    """Give what follows a no to a date that was read back, as in "no, on Wednesday"."""
    said, comma, correction = text[:MOST_SEARCHED].partition(",")
    is_correction = comma and UNDERSTOOD in run.values and parse_yes_no(said, run.context.languages) is False
    return correction if is_correction else text


def parse(run: Execution, kind: str, text: str) -> Answer | None:
    context = run.context
    return parse_answer(
        kind,
        text,
        languages=context.languages,
        country=run.contact.country or context.country,
        timezone=run.contact.timezone or context.timezone,
        now=context.now,
    )


def yes_no_options(run: Execution, config: Config) -> tuple[Option, ...]:
    known = run.values.get(UNDERSTOOD)
    if not known:
        return ()
    number = known["number"]
    return Option(f"yes_{number}", in_language(run, YES)), Option(f"no_{number}", in_language(run, NO))


def read_consent_to_date(run: Execution, reply: Replied) -> Reading | None:
    """Read yes or no to a date that was read back; None for everything else."""
    known = run.values.get(UNDERSTOOD)
    if not known:
        return None
    is_right = parse_yes_no(reply.text, run.context.languages)
    if reply.port:
        is_right = reply.port.startswith("yes_")
    if is_right is None:
        return None
    return Reading("answered", known["value"], known["shown"]) if is_right else Reading(DENIED)


# Choices ---------------------------------------------------------------------------------------------


def _items(config: Config, of: str) -> Sequence[Mapping[str, str]]:
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
    return style_of_many(run, config)


def style_of_many(run: Execution, config: Config) -> str:
    return "quick_replies" if run.context.platform in ("facebook", "instagram") else "list"


# Ratings and consent ---------------------------------------------------------------------------------


def _rating_options(run: Execution, config: Config) -> tuple[Option, ...]:
    return tuple(Option(f"rating_{stars}", "⭐" * stars) for stars in range(5, 0, -1))


def _read_rating(run: Execution, config: Config, reply: Replied) -> Reading | None:
    pressed = reply.port.removeprefix("rating_") if reply.port.startswith("rating_") else ""
    stars = parse_rating(pressed or reply.text)
    return Reading("happy" if stars >= HAPPY_FROM else "unhappy", str(stars)) if stars else None


def _consent_options(run: Execution, config: Config) -> tuple[Option, ...]:
    return Option("agreed", in_language(run, YES)), Option("declined", in_language(run, NO))


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
        options=yes_no_options,
        style=lambda run, config: "buttons",
    ),
    "ask_choice": _choice("options", "option", _style_of_choice),
    "ask_rating": Question(
        read=_read_rating,
        expected=lambda config: RATE,
        otherwise="no_answer",
        in_silence="no_answer",
        options=_rating_options,
        style=style_of_many,
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
    return listen(run, config)


def _replied(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if isinstance(event, TimedOut):
        return Leave("no_reply", EXPIRED)
    return Leave("replied") if isinstance(event, Replied) else None


QUESTION_EXECUTORS: Final[Mapping[str, Executor]] = {
    **{
        name: Executor(partial(begin, question), partial(resume, question), listens=True)
        for name, question in QUESTIONS.items()
    },
    "wait_for_reply": Executor(_begin_waiting, _replied, listens=True),
}
