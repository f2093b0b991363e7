"""When a wall clock is, in the time zones of those who look at it."""

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

# Where a day begins first.
ANCHOR = timezone(timedelta(hours=14))
SECOND = timedelta(seconds=1)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def instant_of(wall: datetime, zone: str | None, otherwise: str | None = None) -> datetime:
    """Give the moment at which clocks of a zone show a time, which has no zone of its own.

    A time that clocks skip is the first moment after the gap, one that they show twice is the first of the two. A zone
    that there is not is `otherwise`, the workspace's, and failing that UTC.
    """
    clocks = _zone(zone) or _zone(otherwise) or UTC
    try:
        return _first_instant(wall, clocks) if isinstance(clocks, ZoneInfo) else wall.replace(tzinfo=UTC)
    except OverflowError:
        return _nearest_end(wall)


def anchor_of(wall: datetime) -> datetime:
    """Give the moment at which clocks at UTC+14 show a time: nowhere do they show it earlier."""
    try:
        return wall.replace(tzinfo=ANCHOR).astimezone(UTC)
    except OverflowError:
        return _nearest_end(wall)


def known_zone(zone: str | None, otherwise: str | None) -> str:
    """Give the name of the zone that `instant_of` goes by."""
    return next((name for name in (zone, otherwise) if name and _zone(name)), "UTC")


def _first_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) == wall.replace(fold=0):
        return first
    # Clocks skip this time: read by those after the jump it lies before the jump, by those before the jump after it.
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _first_change(before, first, zone)


def _first_change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Give the second at which the offset changes, later than `before` and not later than `after`."""
    offset = before.astimezone(zone).utcoffset()
    low, high = 0, int((after - before) / SECOND)
    while high - low > 1:
        middle = (low + high) // 2
        if (before + middle * SECOND).astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return before + high * SECOND


@lru_cache(maxsize=1_024)
def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None


def _nearest_end(wall: datetime) -> datetime:
    return FIRST if wall.year < LAST.year else LAST
