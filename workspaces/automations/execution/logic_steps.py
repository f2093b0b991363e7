"""Steps that choose a way, and steps that wait for a moment."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Final
from zoneinfo import ZoneInfo

from config.db import name_key
from config.wall_clock import instant_of, known_zone
from workspaces.automations.execution.contact_steps import LONGEST_TAG
from workspaces.automations.execution.message_steps import one_line
from workspaces.automations.execution.opening_hours import is_open, next_opening
from workspaces.automations.execution.running import Config, Execution, Executor, Leave, Outcome, Pause, StepFailed
from workspaces.automations.execution.types import Happened, RunEvent, TimedOut, Wait, WaitKind
from workspaces.automations.execution.variables import render, value_of

MORNING: Final = time(9)
EVENING: Final = time(18)
UNITS: Final[Mapping[str, timedelta]] = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}
NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?")
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?", re.ASCII)
OPEN_NOW: Final = "open_now"
TOO_LATE: Final = "moment_has_passed"
APPOINTMENT_CANCELLED: Final = "appointment_cancelled"
# The wait for a moment beside an appointment has this key with the appointment's id.
APPOINTMENT: Final = "appointment"


def _condition(run: Execution, config: Config) -> Leave:
    return Leave("yes" if _rules_are_met(run, config) else "no")


def _rules_are_met(run: Execution, config: Config) -> bool:
    """Say whether all rules are met, or one of them if the step matches `any`."""
    rules = config.get("rules") or []
    met = (_rule_is_met(run, rule) for rule in rules)
    return any(met) if config.get("match") == "any" else all(met)


def _rule_is_met(run: Execution, rule: Mapping[str, str]) -> bool:
    value = value_of(run, rule["variable"]).strip()
    compared_with = render(run, rule.get("value") or "", exact=True).strip()
    return COMPARISONS[rule["operator"]](value, compared_with)


def _is_equal(value: str, other: str) -> bool:
    numbers = _number(value), _number(other)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0] == numbers[1]
    return name_key(value) == name_key(other)


def _order(value: str, other: str) -> int:
    """Compare two numbers, or two dates: 1, 0 or -1; 0 also for all else."""
    left, right = _number(value), _number(other)
    if left is not None and right is not None:
        return (left > right) - (left < right)
    if DATE.fullmatch(value) and DATE.fullmatch(other):
        shorter = min(len(value), len(other))
        return (value[:shorter] > other[:shorter]) - (value[:shorter] < other[:shorter])
    return 0


def _number(text: str) -> Decimal | None:
    return Decimal(text) if NUMBER.fullmatch(text) else None


COMPARISONS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "is": _is_equal,
    "is_not": lambda value, other: not _is_equal(value, other),
    "contains": lambda value, other: bool(other) and other.casefold() in value.casefold(),
    "is_set": lambda value, other: bool(value),
    "is_not_set": lambda value, other: not value,
    "more_than": lambda value, other: _order(value, other) > 0,
    "less_than": lambda value, other: _order(value, other) < 0,
}


def _has_tag(run: Execution, config: Config) -> Leave:
    return Leave("yes" if run.has_tag(one_line(run, config.get("tag"), LONGEST_TAG)) else "no")


def _split(run: Execution, config: Config) -> Leave:
    shares = [part["percent"] for part in config.get("parts") or ()]
    if not shares:
        return Leave(port="")
    drawn = int.from_bytes(blake2b(f"{run.state.token}:{run.next_seq}".encode(), digest_size=8).digest(), "big")
    return Leave(f"part_{_part(shares, drawn % sum(shares))}")


def _part(shares: Sequence[int], drawn: int) -> int:
    for position, share in enumerate(shares, 1):
        drawn -= share
        if drawn < 0:
            return position
    return len(shares)


def _wait(run: Execution, config: Config) -> Outcome:
    length = config["amount"] * UNITS[config["unit"]]
    return Pause(Wait(WaitKind.TIME, run.context.now + length))


def _goes_on(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    return Leave() if isinstance(event, TimedOut) else None


def _wait_until(run: Execution, config: Config) -> Outcome:
    now, moment = run.context.now, config["moment"]
    if moment == "next_opening":
        until = next_opening(run.context.opening_hours, run.context.timezone, now)
        return Leave(detail=OPEN_NOW) if until <= now else Pause(Wait(WaitKind.TIME, until))
    if moment in ("morning", "evening"):
        return Pause(Wait(WaitKind.TIME, _next(run, MORNING if moment == "morning" else EVENING)))
    return _wait_beside_appointment(run, config)


def _wait_beside_appointment(run: Execution, config: Config) -> Outcome:
    """Wait for a moment before or after the appointment. The wait's key lets it follow when the appointment moves."""
    until = _beside_appointment(run, config)
    appointment = run.values["appointment"].get("id", "")
    if until <= run.context.now:
        return Leave(detail=TOO_LATE)
    return Pause(Wait(WaitKind.TIME, until, f"{APPOINTMENT}:{appointment}" if appointment else ""))


def _go_on_or_move(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    """Go on after the wait. If the appointment moves, the wait moves with it; if it is cancelled, the run ends."""
    if isinstance(event, Happened) and event.kind == "appointment_cancelled":
        return Leave(port="", detail=APPOINTMENT_CANCELLED)
    if isinstance(event, Happened) and event.kind == "appointment_rescheduled":
        run.values = {**run.values, **event.values}
        return _wait_beside_appointment(run, config)
    return _goes_on(run, config, event)


def _next(run: Execution, clock: time) -> datetime:
    """Give the next moment at which the contact's clock shows this time; without a zone, the workspace's clock."""
    zone = known_zone(run.contact.timezone, run.context.timezone)
    today = run.context.now.astimezone(ZoneInfo(zone)).date()
    moments = (instant_of(datetime.combine(today + timedelta(days=later), clock), zone) for later in range(2))
    return next((moment for moment in moments if moment > run.context.now), run.context.now + timedelta(days=1))


def _beside_appointment(run: Execution, config: Config) -> datetime:
    """Give the moment so many hours before or after the appointment's start (`starts_at`, ISO with its offset)."""
    try:
        starts_at = datetime.fromisoformat(run.values.get("appointment", {}).get("starts_at", ""))
    except ValueError as error:
        raise StepFailed("appointment_missing") from error
    hours = timedelta(hours=config.get("hours") or 1)
    starts_at = starts_at if starts_at.tzinfo else starts_at.replace(tzinfo=UTC)
    return starts_at - hours if config["moment"] == "before_appointment" else starts_at + hours


def _working_hours(run: Execution, config: Config) -> Leave:
    hours = run.context.calendars.get(config.get("calendar") or "", run.context.opening_hours)
    return Leave("open" if is_open(hours, run.context.timezone, run.context.now) else "closed")


LOGIC_EXECUTORS: Final[Mapping[str, Executor]] = {
    "condition": Executor(_condition),
    "has_tag": Executor(_has_tag),
    "split": Executor(_split),
    "wait": Executor(_wait, _goes_on),
    "wait_until": Executor(_wait_until, _go_on_or_move),
    "working_hours": Executor(_working_hours),
}
