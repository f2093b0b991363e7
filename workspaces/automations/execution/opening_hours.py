"""Says whether a business is open, and when it opens next."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from config.wall_clock import instant_of, known_zone

# Intervals such as `["09:00", "17:00"]` for each weekday (`monday` …), sorted, on the clocks of the business.
OpeningHours = Mapping[str, Sequence[Sequence[str]]]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Where clocks skip the only open minutes of a week, the next opening is a week later.
MOST_DAYS = 15


def is_open(opening_hours: OpeningHours, timezone: str, now: datetime) -> bool:
    """Say whether `now` lies in an interval. A business without opening hours is always open.

    An interval begins with its first minute and ends before its last: from 09:00 to 17:00 is closed at 17:00. If clocks
    go back, it ends the first time that they show its end. If they skip its start or end, that is when they jump.
    """
    if not any(opening_hours.values()):
        return True
    day = _local_day(timezone, now)
    return any(start <= now < end for start, end in _intervals(opening_hours, timezone, day))


def next_opening(opening_hours: OpeningHours, timezone: str, now: datetime) -> datetime:
    """Give the first moment, not before `now`, at which the business is open, in UTC."""
    if not any(opening_hours.values()):
        return now.astimezone(UTC)
    today = _local_day(timezone, now)
    for later in range(MOST_DAYS):
        for start, end in _intervals(opening_hours, timezone, today + timedelta(days=later)):
            if now < end:
                return max(now.astimezone(UTC), start)
    return now.astimezone(UTC)


def _local_day(timezone: str, now: datetime) -> date:
    return now.astimezone(ZoneInfo(known_zone(timezone, None))).date()


def _intervals(opening_hours: OpeningHours, timezone: str, day: date) -> Iterator[tuple[datetime, datetime]]:
    """Give the day's intervals as moments, without those that clocks skip."""
    for opens, closes in opening_hours.get(WEEKDAYS[day.weekday()], ()):
        start, end = _instant(day, opens, timezone), _instant(day, closes, timezone)
        if start < end:
            yield start, end


def _instant(day: date, clock: str, timezone: str) -> datetime:
    if clock == "24:00":
        day, clock = day + timedelta(days=1), "00:00"
    return instant_of(datetime.combine(day, time.fromisoformat(clock)), timezone)
