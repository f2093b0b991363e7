"""What the readers of several kinds of notices share."""

from datetime import UTC, datetime
from typing import Final

from channelconnect.providers.notices.events import Problem
from channelconnect.providers.parsing import Row, number, row, rows, text

# Later moments in seconds than this are milliseconds in truth.
LAST_SECOND: Final = 100_000_000_000
LONGEST_MESSAGE: Final = 65_536
LONGEST_ID: Final = 512


def moment(value: object) -> datetime | None:
    """Read seconds or milliseconds since 1970, as a number or as digits."""
    found = number(value)
    if found is None or not 0 < found < LAST_SECOND * 1000:
        return None
    return datetime.fromtimestamp(found / 1000 if found >= LAST_SECOND else found, UTC)


def problems(value: object) -> tuple[Problem, ...]:
    return tuple(_problem(error) for error in rows(value))


def _problem(error: Row) -> Problem:
    return Problem(
        code=number(error.get("code")) or 0,
        title=text(error.get("title")) or text(error.get("message")),
        details=text(row(error.get("error_data")).get("details"), 1_000),
    )
