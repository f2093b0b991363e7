"""Reads the times at which an ICS file says that a person is busy; a program of its own, in bounded time and memory.

A few lines can describe endless repetitions, and a library's reader may need hours for them, or break. Files of others
are therefore read in a process that has no settings, no connections and no more memory than a file needs, and that ends
after some seconds of work. As a program this file imports nothing of the product.
"""

import json
import re
import resource
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from icalendar import Calendar
from icalendar.caselessdict import CaselessDict

MOST_EVENTS: Final = 5_000
MOST_BUSY_TIMES: Final = 5_000
MOST_REPETITIONS: Final = 200_000
DEEPEST: Final = 4
LONGEST_LINE: Final = 100_000
MOST_MEMORY: Final = 1024 * 1024 * 1024
FREQUENCIES: Final = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
# The properties of an event that say when it takes place, and whether it keeps a person busy.
WANTED: Final = frozenset(
    {
        *("BEGIN", "END", "UID", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "STATUS"),
        *("TRANSP", "X-MICROSOFT-CDO-BUSYSTATUS", "X-WR-TIMEZONE"),
    }
)
READ_WHOLE: Final = frozenset({"VTIMEZONE", "STANDARD", "DAYLIGHT"})
NAME: Final = re.compile(r"[A-Za-z0-9-]+")
FOLD: Final = re.compile(r"\r?\n[ \t]")
DAY: Final = timedelta(days=1)

# The exit codes with which the program refuses a file; any other code is too much work, or an unforeseen failure.
EXIT_CODES: Final = {3: "not_a_calendar", 4: "wrong_encoding", 5: "too_many_events", 6: "recurrence_refused"}


class CalendarRejected(Exception):
    """The file is refused; `code` is a key of `EXIT_CODES`."""

    def __init__(self, code: int) -> None:
        super().__init__(EXIT_CODES[code])
        self.code = code


class Window(NamedTuple):
    """The times that count, and the zone of events that name none."""

    first: datetime
    last: datetime
    zone: tzinfo


class Busy(NamedTuple):
    start: datetime
    end: datetime


def busy_times(data: bytes, *, first: datetime, last: datetime, zone: str) -> list[Busy]:
    """Return the busy times from `first` to `last`, in order and without overlaps. Raises `CalendarRejected`."""
    text = shortened(data)
    try:
        calendars = Calendar.from_ical(text, multiple=True)
        window = Window(first, last, _own_zone(calendars) or ZoneInfo(zone))
        found = [one for calendar in calendars for one in _busy_of(calendar, window)]
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise CalendarRejected(3) from error
    return _joined(found, window)


def shortened(data: bytes) -> str:
    """Return the file without what is not needed: texts, attendees, alarms. Raises `CalendarRejected`."""
    try:
        text = FOLD.sub("", data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CalendarRejected(4) from error
    kept, inside, events = list[str](), list[str](), 0
    for line in map(str.rstrip, text.split("\n")):
        named = NAME.match(line)
        name = named.group().upper() if named else ""
        if name in ("BEGIN", "END"):
            component = line.partition(":")[2].strip().upper()
            events += name == "BEGIN" and component == "VEVENT"
            _follow(inside, name, component)
            _check_number(events)
            if component in READ_WHOLE or component in ("VCALENDAR", "VEVENT"):
                kept.append(f"{name}:{component}")
        elif _is_wanted(inside, name):
            kept.append(line)
        if len(line) > LONGEST_LINE and kept and kept[-1] is line:
            raise CalendarRejected(3)
    if inside or not kept or kept[0] != "BEGIN:VCALENDAR":
        raise CalendarRejected(3)
    return "\r\n".join([*kept, ""])


def _follow(inside: list[str], name: str, component: str) -> None:
    """Follow the components that begin and end. Raises `CalendarRejected` where they do not fit into each other."""
    if name == "BEGIN":
        inside.append(component)
    elif not inside or inside.pop() != component:
        raise CalendarRejected(3)
    is_root_wrong = inside and inside[0] != "VCALENDAR"
    is_event_nested = component == "VEVENT" and inside not in (["VCALENDAR"], ["VCALENDAR", "VEVENT"])
    if len(inside) > DEEPEST or is_root_wrong or is_event_nested:
        raise CalendarRejected(3)


def _check_number(events: int) -> None:
    if events > MOST_EVENTS:
        raise CalendarRejected(5)


def _is_wanted(inside: list[str], name: str) -> bool:
    if not inside:
        return False
    return inside[-1] in READ_WHOLE or (inside[-1] in ("VCALENDAR", "VEVENT") and name in WANTED)


def _own_zone(calendars: list[Calendar]) -> ZoneInfo | None:
    """Return the zone that the calendar names for itself, if it is known."""
    for calendar in calendars:
        try:
            return ZoneInfo(str(calendar["X-WR-TIMEZONE"]).strip())
        except (KeyError, ValueError, OSError):
            continue
    return None


def _busy_of(calendar: Calendar, window: Window) -> Iterator[Busy]:
    events: list[CaselessDict] = [event for event in calendar.walk("VEVENT") if "DTSTART" in event]
    moved: dict[str, set[datetime]] = {}
    for event in events:
        if "RECURRENCE-ID" in event:
            instant = _instant(event["RECURRENCE-ID"].dt, window)
            moved.setdefault(str(event.get("UID", "")), set()).add(instant)
    budget = [MOST_REPETITIONS]
    for event in events:
        if _is_busy(event):
            yield from _times_of(event, moved.get(str(event.get("UID", "")), set()), window, budget)


def _is_busy(event: CaselessDict) -> bool:
    values = {name: str(event.get(name, "")).strip().upper() for name in WANTED if name in event}
    return not (
        values.get("STATUS") == "CANCELLED"
        or values.get("TRANSP") == "TRANSPARENT"
        or values.get("X-MICROSOFT-CDO-BUSYSTATUS") == "FREE"
    )


def _times_of(event: CaselessDict, moved: set[datetime], window: Window, budget: list[int]) -> Iterator[Busy]:
    begins = event["DTSTART"].dt
    length = _length(event, begins)
    is_single = "RECURRENCE-ID" in event
    gone = _instants(event.get("EXDATE"), window) | (set() if is_single else moved)
    for start in [begins] if is_single else _starts(event, begins, window, budget):
        instant, end = _instant(start, window), _end(start, length, window)
        if instant not in gone and end > window.first and instant < window.last and end > instant:
            yield Busy(instant, end)


def _length(event: CaselessDict, begins: date | datetime) -> timedelta:
    """Return how long an event lasts, by the clock: without an end a day, or no time at all."""
    if "DTEND" in event:
        ends = event["DTEND"].dt
        if isinstance(begins, datetime) and isinstance(ends, datetime) and begins.tzinfo and ends.tzinfo:
            return ends - begins if begins.tzinfo is ends.tzinfo else ends.astimezone(UTC) - begins.astimezone(UTC)
        return _naive(ends) - _naive(begins)
    if "DURATION" in event:
        length: timedelta = event["DURATION"].dt
        return length
    return timedelta(0) if isinstance(begins, datetime) else DAY


def _end(start: date | datetime, length: timedelta, window: Window) -> datetime:
    """Return the end of a repetition. Days are those of the clock, and hours pass one by one."""
    if isinstance(start, datetime):
        return _instant(start, window) + length
    return _instant(start + max(length, DAY), window)


def _starts(
    event: CaselessDict, begins: date | datetime, window: Window, budget: list[int]
) -> Iterator[date | datetime]:
    """Yield the starts of an event and of its repetitions, each once."""
    seen = set[date | datetime]()
    for start in _all_starts(event, begins, window, budget):
        if start not in seen:
            seen.add(start)
            yield start


def _all_starts(
    event: CaselessDict, begins: date | datetime, window: Window, budget: list[int]
) -> Iterator[date | datetime]:
    yield begins
    for rule in _listed(event.get("RRULE")):
        yield from _repetitions(rule, begins, window, budget)
    for dates in _listed(event.get("RDATE")):
        for one in dates.dts:
            yield one.dt[0] if isinstance(one.dt, tuple) else one.dt


def _repetitions(
    rule: Mapping[str, Any], begins: date | datetime, window: Window, budget: list[int]
) -> Iterator[date | datetime]:
    """Yield the repetitions by a rule up to the end of the window. Raises `CalendarRejected`."""
    frequencies = {str(one).upper() for one in rule.get("FREQ", [])}
    if frequencies - FREQUENCIES or "BYSECOND" in rule:
        raise CalendarRejected(6)
    zone = begins.tzinfo if isinstance(begins, datetime) else None
    rule = {name: value for name, value in rule.items() if name != "UNTIL"} | {"UNTIL": _until(rule, zone)}
    text = _rule_text(rule)
    limit = _naive(window.last.astimezone(zone or window.zone)) + DAY
    for start in rrulestr(text, dtstart=_naive(begins)):
        budget[0] -= 1
        if budget[0] < 0:
            raise CalendarRejected(5)
        if start > limit:
            return
        yield start.replace(tzinfo=zone) if isinstance(begins, datetime) else start.date()


def _rule_text(rule: Mapping[str, object]) -> str:
    parts = []
    for name, value in rule.items():
        values = value if isinstance(value, list) else [value]
        written = ",".join(_written(one) for one in values if one is not None)
        if written:
            parts.append(f"{name}={written}")
    return ";".join(parts)


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y%m%dT%H%M%S")
    written = value.to_ical() if hasattr(value, "to_ical") else str(value)
    return written.decode() if isinstance(written, bytes) else str(written)


def _until(rule: Mapping[str, Any], zone: tzinfo | None) -> datetime | None:
    """Return the end of a rule by the clock of the event."""
    for until in rule.get("UNTIL", []):
        if not isinstance(until, datetime):
            return datetime.combine(until, time.max.replace(microsecond=0))
        return _naive(until.astimezone(zone)) if until.tzinfo and zone else _naive(until)
    return None


def _listed(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _instants(value: object, window: Window) -> set[datetime]:
    return {_instant(one.dt, window) for dates in _listed(value) for one in dates.dts}


def _instant(moment: date | datetime, window: Window) -> datetime:
    """Return the moment in UTC. A time without a zone, and the beginning of a day, are by the calendar's clock."""
    wall = moment if isinstance(moment, datetime) else datetime.combine(moment, time.min)
    return (wall if wall.tzinfo else wall.replace(tzinfo=window.zone)).astimezone(UTC)


def _naive(moment: date | datetime) -> datetime:
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime.combine(moment, time.min)


def _joined(found: list[Busy], window: Window) -> list[Busy]:
    """Cut the times to the window and join those that touch. Raises `CalendarRejected` if there are too many."""
    joined: list[Busy] = []
    for start, end in sorted(found):
        cut = Busy(max(start, window.first), min(end, window.last))
        if joined and cut.start <= joined[-1].end:
            joined[-1] = Busy(joined[-1].start, max(joined[-1].end, cut.end))
        else:
            joined.append(cut)
    if len(joined) > MOST_BUSY_TIMES:
        raise CalendarRejected(5)
    return joined


def main() -> int:
    """Read a file and write its busy times in seconds as JSON; return an exit code that says why there is nothing.

    The arguments are the seconds of work that the program may take, the first and the last second that count, and the
    time zone of events that name none.
    """
    seconds, first, last, zone = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    window = {"first": datetime.fromtimestamp(int(first), UTC), "last": datetime.fromtimestamp(int(last), UTC)}
    try:
        found = busy_times(sys.stdin.buffer.read(), zone=zone, **window)
    except CalendarRejected as refused:
        return refused.code
    json.dump([[int(start.timestamp()), int(end.timestamp())] for start, end in found], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
