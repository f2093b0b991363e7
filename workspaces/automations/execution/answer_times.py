"""Reads times of the day from the tokens of an answer (`answer_dates`), and says whether it had to guess."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

from workspaces.automations.execution.languages.dates import (
    AFTERNOON,
    CLOCK,
    MINUTES_FIRST,
    MINUTES_LAST,
    NIGHT,
    NOON,
    NUMBER,
    O_CLOCK,
    ORDINAL,
    Token,
)


def time_of(tokens: Sequence[Token], parts: set[int]) -> time | None:
    """Give the time that the tokens and the part of the day name."""
    by_kind = {token.kind: token for token in tokens}
    if NOON in by_kind:
        return time(12)
    written = by_kind.get(CLOCK)
    spoken = by_kind.get(NUMBER) or by_kind.get(ORDINAL)
    if written is not None:
        hour, minute, sign = *divmod(written.value, 60), written.sign
    elif spoken is not None and 1 <= spoken.value <= 23:
        hour, minute, sign = spoken.value, 0, "hour" if O_CLOCK in by_kind else ""
    else:
        return None
    half = sign if sign in ("am", "pm") else _half(hour, parts, is_clock=sign == "hour", is_exact=sign == "exact")
    full_hour = {"am": hour % 12, "pm": hour % 12 + 12}.get(half, hour) if hour <= 12 else hour
    shift = sum(by_kind[kind].value for kind in (MINUTES_FIRST, MINUTES_LAST) if kind in by_kind)
    if hour > 23 or (half == "am" and hour > 12) or (shift and minute):
        return None
    hour, minute = divmod((full_hour * 60 + minute + shift) % (24 * 60), 60)
    return time(hour, minute)


def _half(hour: int, parts: set[int], *, is_clock: bool, is_exact: bool) -> str:
    """Say in which half of the day an hour is: "am", "pm", or "" for an hour of the 24-hour clock."""
    if hour > 12 or hour == 0:
        return ""
    if parts:
        return "pm" if parts == {AFTERNOON} or (parts == {NIGHT} and hour in range(6, 12)) else "am"
    # Without more, people mean an hour at which they are awake; `03:00` is exact.
    return "pm" if not is_exact and hour < (FIRST_CLOCK_HOUR if is_clock else FIRST_HOUR) else ""


# From these hours on, an hour is one of the morning: "at 7" is 19:00, but "7:00" is the morning.
FIRST_HOUR: Final = 8
FIRST_CLOCK_HOUR: Final = 7


def next_day(moment: time | None, local: datetime) -> date | None:
    """Give the day of the next such time."""
    if moment is None:
        return None
    return local.date() if moment > local.time() else local.date() + timedelta(days=1)


def is_clear_time(tokens: Sequence[Token], parts: set[int], language: str) -> bool:
    """Say whether nobody needs to guess in which half of the day a time is.

    Outside English, `10:00` and `10 Uhr` are the morning, because people count to 24.
    """
    by_kind = {token.kind: token for token in tokens}
    written = by_kind.get(CLOCK)
    spoken = by_kind.get(NUMBER) or by_kind.get(ORDINAL)
    if parts or NOON in by_kind or (written and written.sign != "hour"):
        return True
    hour = written.value // 60 if written else spoken.value if spoken else 0
    is_clock = written is not None or O_CLOCK in by_kind
    return not 1 <= hour <= 12 or (is_clock and language != "en" and hour >= FIRST_CLOCK_HOUR)
