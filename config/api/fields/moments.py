"""Times in bodies, filters and addresses."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.dateparse import parse_datetime

NO_TIME: Final = "must be an ISO 8601 time with an offset."
OUT_OF_RANGE: Final = "is out of range."
# Times keep this distance from the ends of the calendar. No zone's offset is larger, so a time is within the calendar
# both in UTC and on any person's local clock.
MARGIN: Final = timedelta(days=1)
NO_MARGIN: Final = timedelta(0)
EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)


class BeyondCalendar(ValueError):
    """A time whose year would be 0 or 10000 on some local clock."""


def moment_of(text: Any, *, margin: timedelta = MARGIN) -> datetime | None:
    """Parse a time with an offset; None for any other text. Raises `BeyondCalendar`.

    A time that is only compared with others, and shown on no clock, needs no margin.
    """
    try:
        found = parse_datetime(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if found is None or found.tzinfo is None:
        return None
    try:
        is_within = EARLIEST + margin <= found.astimezone(UTC) <= LATEST - margin
    except OverflowError as error:
        raise BeyondCalendar from error
    if not is_within:
        raise BeyondCalendar
    return found
