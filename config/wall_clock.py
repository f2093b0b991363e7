"""Turns a wall clock into a moment in a time zone."""

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

# The zone in which a day begins first.
ANCHOR = timezone(timedelta(hours=14))
SECOND = timedelta(seconds=1)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def instant_of(wall: datetime, zone: str | None, otherwise: str | None = None) -> datetime:
    """Return the moment at which a zone's clocks show `wall`, a time without a zone.

    A time that clocks skip becomes the first moment after the gap. A time that they show twice is the first of the two.
    An unknown zone is replaced by `otherwise`, the workspace's zone, and then by UTC.
    """
    clocks = _zone(zone) or _zone(otherwise) or UTC
    try:
        return _first_instant(wall, clocks) if isinstance(clocks, ZoneInfo) else wall.replace(tzinfo=UTC)
    except OverflowError:
        return _nearest_end(wall)


def anchor_of(wall: datetime) -> datetime:
    """Return the moment at which clocks at UTC+14 show a time. No clocks show it earlier."""
    try:
        return wall.replace(tzinfo=ANCHOR).astimezone(UTC)
    except OverflowError:
        return _nearest_end(wall)


def known_zone(zone: str | None, otherwise: str | None) -> str:
    """Return the name of the zone that `instant_of` uses."""
    return next((name for name in (zone, otherwise) if name and _zone(name)), "UTC")


def _first_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) == wall.replace(fold=0):
        return first
    # Clocks skip this time. With the offset after the jump it lies before the jump, with the offset before it after the
    # jump.
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _first_change(before, first, zone)


def _first_change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the second at which the offset changes, later than `before` and not later than `after`."""
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
