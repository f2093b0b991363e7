"""Times as they are written in bodies, filters and addresses."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.dateparse import parse_datetime

NO_TIME: Final = "must be an ISO 8601 time with an offset."
OUT_OF_RANGE: Final = "is out of range."
# As far from the ends of the calendar as any zone's offset reaches: what is shown on somebody's own clock passes them
# neither in UTC nor there.
MARGIN: Final = timedelta(days=1)
NO_MARGIN: Final = timedelta(0)
EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)


class BeyondCalendar(ValueError):
    """A time that is none on some clock, as its year would be 0 or 10000 there."""


def moment_of(text: Any, *, margin: timedelta = MARGIN) -> datetime | None:
    """Read a time with an offset; None for what is none. Raises `BeyondCalendar`.

    What is only compared with other times, and shown on no clock, needs no margin.
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
