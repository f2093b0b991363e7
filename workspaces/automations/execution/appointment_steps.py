"""Steps that book and change appointments: they offer free times, and understand the time that the contact chooses.

What is being chosen is kept in `RunState.values` under `CHOICE`, until the run leaves the step.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
from django.utils.translation import gettext_noop

from config.wall_clock import instant_of, known_zone
from workspaces.automations.execution.answer_dates import moment_in_words
from workspaces.automations.execution.answers import match_choice
from workspaces.automations.execution.internal_calls import (
    TIME_TAKEN,
    BookTime,
    ChangeAppointment,
    FindAppointments,
    FindTimes,
)
from workspaces.automations.execution.message_steps import LONGEST_TITLE, cut
from workspaces.automations.execution.outside_steps import call_is_late, wait_for_call
from workspaces.automations.execution.question_steps import (
    LONGEST_DESCRIPTION,
    LONGEST_ROW,
    MOST_BUTTONS,
    corrected,
    parse,
    read_consent_to_date,
    style_of_many,
    yes_no_options,
)
from workspaces.automations.execution.questions import UNDERSTOOD, Question, Reading, ask, in_language, listen, resume
from workspaces.automations.execution.running import Config, Execution, Executor, Leave, Outcome, wait_for_turn
from workspaces.automations.execution.types import CallEnded, Option, Replied, RunEvent, WaitKind

CHOICE: Final = "choice"
# Times are offered or booked at most so often in one step.
MOST_ROUNDS: Final = 10
# A list of WhatsApp has ten rows, and one of them is for later times.
MOST_OPTIONS: Final = 9
MORE: Final = "more"
CHOSEN: Final = "chosen"
# What is being chosen.
SERVICE: Final = "service"
APPOINTMENT: Final = "appointment"
TIME: Final = "time"
# Details of steps.
NO_TIMES: Final = "no_free_times"
NO_APPOINTMENT: Final = "no_appointment"
TOO_MANY_ROUNDS: Final = "too_many_rounds"

OTHER_TIMES: Final = gettext_noop("Other times")
OTHERS: Final = gettext_noop("More")
TIME_IS_TAKEN: Final = gettext_noop("Sorry, this time is not free. Please choose another one.")
WHICH_SERVICE: Final = gettext_noop("What would you like to book?")
WHICH_TIME: Final = gettext_noop("Which time suits you? You can also write a day and a time.")
WHICH_APPOINTMENT: Final = gettext_noop("Which appointment do you mean?")
ASKED: Final[Mapping[str, str]] = {SERVICE: WHICH_SERVICE, TIME: WHICH_TIME, APPOINTMENT: WHICH_APPOINTMENT}
# The ways out of each type of step.
PORTS: Final[Mapping[str, tuple[str, str]]] = {
    "book_appointment": ("booked", "not_booked"),
    "change_appointment": ("done", "not_done"),
}


def _known(run: Execution) -> Mapping[str, str]:
    return run.values.get(CHOICE, {})


def _keep(run: Execution, **changes: str) -> None:
    run.values = {**run.values, CHOICE: {**_known(run), **changes}}


def _leave(run: Execution, *, is_done: bool, detail: str = "") -> Leave:
    """Leave the step, and forget what was being chosen."""
    run.values = {name: values for name, values in run.values.items() if name not in (CHOICE, UNDERSTOOD)}
    done, not_done = PORTS[run.steps[run.node]["type"]]
    return Leave(done if is_done else not_done, detail)


def zone_of(run: Execution) -> str:
    """Give the contact's time zone, else the workspace's."""
    return known_zone(run.contact.timezone, run.context.timezone)


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _staff(config: Config) -> str:
    """Give the staff member whom the step names. A calendar may also be the opening hours of the business."""
    named = (config.get("agent") or "", config.get("calendar") or "")
    return next((one for one in named if _is_uuid(one)), "")


# Calls of the product --------------------------------------------------------------------------------


def _begin_booking(run: Execution, config: Config) -> Outcome:
    run.values = {**run.values, CHOICE: {"service": config.get("service") or "", "staff": _staff(config)}}
    return _find_times(run)


def _begin_change(run: Execution, config: Config) -> Outcome:
    appointment = run.values.get("appointment", {}).get("id", "")
    run.values = {**run.values, CHOICE: {"awaits": APPOINTMENT}}
    run.do(FindAppointments(appointment))
    return wait_for_call(run)


def _find_times(run: Execution, *, after: str = "", is_day: bool = False) -> Outcome:
    known = _known(run)
    rounds = int(known.get("rounds", "0")) + 1
    if rounds > MOST_ROUNDS:
        return _leave(run, is_done=False, detail=TOO_MANY_ROUNDS)
    _keep(run, rounds=str(rounds), awaits=TIME, after=after)
    run.do(
        FindTimes(
            service=known.get("service", ""),
            staff=known.get("staff", ""),
            appointment=known.get("appointment", ""),
            after=after,
            is_day=is_day,
            timezone=zone_of(run),
        )
    )
    return wait_for_call(run)


def _call_ended(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if late := call_is_late(event, ""):
        return _leave(run, is_done=False, detail=late.detail)
    if not isinstance(event, CallEnded):
        return None
    if not event.ok and event.code == TIME_TAKEN:
        _keep(run, says=TIME_IS_TAKEN)
        return _find_times(run, after=_known(run).get("day", ""))
    if not event.ok:
        return _leave(run, is_done=False, detail=event.code)
    return RESULTS[_known(run).get("awaits", "")](run, config, event.result)


def _found_times(run: Execution, config: Config, result: Mapping[str, Any]) -> Outcome:
    if services := result.get("services"):
        return _offer(run, config, SERVICE, [(one[0], one[1], one[2]) for one in services])
    times = result.get("times") or ()
    if not times:
        is_later_page = bool(_known(run).get("after"))
        return _find_times(run) if is_later_page else _leave(run, is_done=False, detail=NO_TIMES)
    _keep(run, service=result.get("service") or "", next=result.get("next") or "")
    return _offer(run, config, TIME, [(moment, _short(run, moment), "") for moment in times])


def _short(run: Execution, moment: str) -> str:
    local = datetime.fromisoformat(moment).astimezone(ZoneInfo(zone_of(run)))
    country = run.contact.country or run.context.country
    return moment_in_words(local, languages=run.context.languages, country=country).short


def _found_appointments(run: Execution, config: Config, result: Mapping[str, Any]) -> Outcome:
    found = [(one[0], _short(run, one[1]), one[2]) for one in result.get("appointments") or ()]
    if not found:
        return _leave(run, is_done=False, detail=NO_APPOINTMENT)
    if len(found) == 1:
        _keep(run, appointment=found[0][0])
        return _change(run, config)
    return _offer(run, config, APPOINTMENT, found)


def _change(run: Execution, config: Config) -> Outcome:
    if config["change"] == "reschedule":
        return _find_times(run)
    _keep(run, awaits=CHOSEN)
    run.do(ChangeAppointment(_known(run)["appointment"], config["change"]))
    return wait_for_call(run)


def _book(run: Execution, moment: str) -> Outcome:
    """Book the time, or move the appointment to it. If it is not free, times from its day on are offered."""
    known, zone = _known(run), zone_of(run)
    _keep(run, awaits=CHOSEN, day=_beginning_of_day(datetime.fromisoformat(moment), zone))
    if appointment := known.get("appointment"):
        run.do(ChangeAppointment(appointment, "reschedule", moment, known.get("staff", "")))
    else:
        run.do(BookTime(known["service"], moment, known.get("staff", ""), zone))
    return wait_for_call(run)


def _beginning_of_day(moment: datetime, zone: str) -> str:
    local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return instant_of(local.replace(hour=0, minute=0, second=0, microsecond=0), zone).isoformat()


def _is_done(run: Execution, config: Config, result: Mapping[str, Any]) -> Outcome:
    run.values = {**run.values, "appointment": dict(result.get("appointment") or {})}
    return _leave(run, is_done=True)


RESULTS: Final[Mapping[str, Callable[[Execution, Config, Mapping[str, Any]], Outcome]]] = {
    TIME: _found_times,
    APPOINTMENT: _found_appointments,
    CHOSEN: _is_done,
}


# The question ----------------------------------------------------------------------------------------


def _offer(run: Execution, config: Config, asks: str, options: Sequence[tuple[str, str, str]]) -> Outcome:
    if not run.context.may_listen:
        return wait_for_turn(run)
    is_first = "asks" not in _known(run)
    says = _known(run).get("says", "")
    _keep(run, asks=asks, options=orjson.dumps(options).decode(), page="0", says="")
    run.repeats = 0
    own_text = config.get("text") if is_first else ""
    ask(_question_of(run), run, config, in_language(run, says) if says else own_text or in_language(run, ASKED[asks]))
    return listen(run, config)


def _offered(run: Execution) -> list[tuple[str, str, str]]:
    """Give the options of the page that the contact sees: value, title and description."""
    options, page = orjson.loads(_known(run).get("options", "[]")), int(_known(run).get("page", "0"))
    return [(one[0], one[1], one[2]) for one in options[page * MOST_OPTIONS : (page + 1) * MOST_OPTIONS]]


def _has_more(run: Execution) -> bool:
    if _known(run).get("asks") == TIME:
        return bool(_known(run).get("next"))
    options = orjson.loads(_known(run).get("options", "[]"))
    return len(options) > (int(_known(run).get("page", "0")) + 1) * MOST_OPTIONS


def _options(run: Execution, config: Config) -> tuple[Option, ...]:
    if UNDERSTOOD in run.values:
        return yes_no_options(run, config)
    longest = LONGEST_ROW if _style(run, config) == "list" else LONGEST_TITLE
    titles = set[str]()
    options = list[Option]()
    for number, (_value, name, description) in enumerate(_offered(run), 1):
        title = cut(name, longest)
        if title in titles:  # networks refuse two equal buttons
            title = cut(f"{number}. {name}", longest)
        titles.add(title)
        told = description or (name if title != name else "")
        options.append(Option(f"choice_{number}", title, cut(told, LONGEST_DESCRIPTION)))
    if _has_more(run):
        more = OTHER_TIMES if _known(run).get("asks") == TIME else OTHERS
        options.append(Option(MORE, cut(in_language(run, more), longest)))
    return tuple(options)


def _style(run: Execution, config: Config) -> str:
    many = len(_offered(run)) + _has_more(run)
    return "buttons" if many <= MOST_BUTTONS or UNDERSTOOD in run.values else style_of_many(run, config)


def _read(run: Execution, config: Config, reply: Replied) -> Reading | None:
    if consent := read_consent_to_date(run, reply):
        return consent
    if reply.port:
        return _read_port(run, reply.port)
    text = corrected(run, reply.text)
    is_date_first = _known(run).get("asks") == TIME and not text.strip().isdecimal()
    read = (_read_time, _read_option) if is_date_first else (_read_option,)
    return next((reading for one in read if (reading := one(run, config, text))), None)


def _read_port(run: Execution, port: str) -> Reading | None:
    if port == MORE:
        return Reading(MORE)
    number = port.removeprefix("choice_")
    offered = _offered(run)
    is_known = number.isdecimal() and 0 < int(number) <= len(offered)
    return Reading(CHOSEN, offered[int(number) - 1][0]) if is_known else None


def _read_option(run: Execution, config: Config, text: str) -> Reading | None:
    options = _options(run, config)
    found = match_choice([option.title for option in options], text, run.context.languages)
    return _read_number(run, text) if found is None else _read_port(run, options[found].port)


def _read_number(run: Execution, text: str) -> Reading | None:
    """Read the number of an offered time that is also a day or a month of the offered times, and ask whether it fits.

    In January every German title has a 1. Without this, nobody could choose the first time by its number then.
    """
    if _known(run).get("asks") != TIME or UNDERSTOOD in run.values or not text.strip().isdecimal():
        return None
    offered = {str(number): option for number, option in enumerate(_offered(run), 1)}
    chosen = offered.get(text.strip())
    return Reading(CHOSEN, chosen[0], chosen[1], needs_consent=True) if chosen else None


def _read_time(run: Execution, config: Config, text: str) -> Reading | None:
    """Read a day, or a day with its time. A time in the past is none."""
    answer = parse(run, "date", text)
    if answer is None or answer.value[:10] < f"{run.context.now.astimezone(ZoneInfo(zone_of(run))):%Y-%m-%d}":
        return None
    if "T" not in answer.value:
        return Reading(CHOSEN, answer.value, answer.shown)
    instant = instant_of(datetime.fromisoformat(answer.value), zone_of(run))
    offered = next((value for value, *_ in _offered(run) if datetime.fromisoformat(value) == instant), "")
    return Reading(CHOSEN, offered or answer.value, answer.shown, needs_consent=not offered and not answer.is_clear)


def _accept(run: Execution, config: Config, reading: Reading) -> None:
    _keep(run, chosen=reading.value, port=reading.port)


def _question(not_done: str) -> Question:
    return Question(
        read=_read,
        expected=lambda config: WHICH_TIME,
        otherwise=not_done,
        in_silence=not_done,
        options=_options,
        style=_style,
        accept=_accept,
    )


APPOINTMENT_QUESTIONS: Final[Mapping[str, Question]] = {
    name: _question(not_done) for name, (_, not_done) in PORTS.items()
}


def _question_of(run: Execution) -> Question:
    return APPOINTMENT_QUESTIONS[run.steps[run.node]["type"]]


def _resume(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    wait = run.state.wait
    if wait is None or wait.kind is not WaitKind.REPLY:
        return _call_ended(run, config, event)
    outcome = resume(_question_of(run), run, config, event)
    if not isinstance(outcome, Leave):
        return outcome
    if outcome.detail:
        return _leave(run, is_done=False, detail=outcome.detail)
    return _go_on(run, config)


def _go_on(run: Execution, config: Config) -> Outcome:
    """Do what the contact has chosen."""
    known = _known(run)
    if known["port"] == MORE:
        return _show_more(run, config)
    if known["asks"] == SERVICE:
        _keep(run, service=known["chosen"])
        return _find_times(run)
    if known["asks"] == APPOINTMENT:
        _keep(run, appointment=known["chosen"])
        return _change(run, config)
    return _choose_time(run, known["chosen"])


def _show_more(run: Execution, config: Config) -> Outcome:
    known = _known(run)
    if known["asks"] == TIME:
        return _find_times(run, after=known["next"])
    _keep(run, page=str(int(known["page"]) + 1))
    ask(_question_of(run), run, config, in_language(run, ASKED[known["asks"]]))
    return listen(run, config)


def _choose_time(run: Execution, chosen: str) -> Outcome:
    """Book an offered moment or a typed time. For a typed day, its free times are offered."""
    zone = zone_of(run)
    moment = datetime.fromisoformat(chosen)
    if moment.tzinfo is not None:
        return _book(run, chosen)
    instant = instant_of(moment, zone)
    if "T" in chosen:
        return _book(run, instant.isoformat())
    return _find_times(run, after=instant.isoformat(), is_day=True)


APPOINTMENT_EXECUTORS: Final[Mapping[str, Executor]] = {
    "book_appointment": Executor(_begin_booking, _resume, listens=True),
    "change_appointment": Executor(_begin_change, _resume, listens=True),
}
