"""Where the entries of the calendar stand: rows of a quarter of an hour, and lanes for entries that overlap.

All functions are pure. Minutes count from midnight by the clock of the calendar's time zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from config.wall_clock import instant_of

Minutes = tuple[int, int]
HOUR: Final = 60
DAY: Final = 24 * HOUR
ROW: Final = 15
# An entry is shown at least so long, so that its text can be read and hit.
SHORTEST: Final = 2 * ROW
# So many overlapping entries stand side by side in a wide and in a narrow column. The others are only counted.
MOST_LANES, MOST_NARROW_LANES = 4, 2
# The hours that are always shown.
USUAL_HOURS: Final = (8 * HOUR, 18 * HOUR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something in the calendar. `kind` is also its CSS class; `staff` is the id of the person it keeps occupied."""

    kind: str
    starts_at: datetime
    ends_at: datetime
    title: str
    detail: str = ""
    url: str = ""
    staff: int | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """A day in the calendar's time zone, with the moments at which it begins and ends."""

    local_date: date
    zone: ZoneInfo
    begins: datetime
    ends: datetime

    @classmethod
    def of(cls, day: date, zone: ZoneInfo) -> "Day":
        return cls(day, zone, _midnight(day, zone), _midnight(day + timedelta(days=1), zone))

    def minutes(self, starts_at: datetime, ends_at: datetime) -> Minutes | None:
        """Give the part of a time that lies in this day; None if there is none.

        If clocks are set back in between, the end may show an earlier time than the start. Then it lasts one row.
        """
        if starts_at >= self.ends or ends_at <= self.begins:
            return None
        first = self._minute(starts_at) if starts_at > self.begins else 0
        last = self._minute(ends_at) if ends_at < self.ends else DAY
        return first, max(last, min(first + ROW, DAY))

    def moment(self, minute: int) -> datetime:
        """Give the moment at which clocks show a minute of this day."""
        wall = datetime.combine(self.local_date, datetime.min.time()) + timedelta(minutes=minute)
        return instant_of(wall, self.zone.key)

    def _minute(self, moment: datetime) -> int:
        local = moment.astimezone(self.zone)
        return local.hour * HOUR + local.minute


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return instant_of(datetime.combine(day, datetime.min.time()), zone.key)


def week_of(day: date) -> list[date]:
    """Give the seven days, from Monday on, of the week in which a day lies."""
    monday = day - timedelta(days=day.weekday())
    return [monday + timedelta(days=number) for number in range(7)]


def shown_hours(days: Iterable[tuple[Day, Sequence[Minutes], Sequence[Entry]]]) -> Minutes:
    """Give the whole hours to show: the usual ones, all working hours, and all entries that do not fill a day."""
    first, last = USUAL_HOURS
    for day, working, entries in days:
        parts = [day.minutes(one.starts_at, one.ends_at) for one in entries]
        for begins, ends in (*working, *(part for part in parts if part and part != (0, DAY))):
            first, last = min(first, begins), max(last, ends)
    return first // HOUR * HOUR, -(-last // HOUR) * HOUR


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a column: its first row, from 1, and its number of rows."""

    row: int
    rows: int

    @classmethod
    def of(cls, part: Minutes, hours: Minutes) -> "Block | None":
        """Place a part of a day in the shown hours; None if it lies outside."""
        begins, ends = max(part[0], hours[0]), min(part[1], hours[1])
        if begins >= ends:
            return None
        row = (begins - hours[0]) // ROW
        return cls(row + 1, -(-(ends - hours[0]) // ROW) - row)


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """An entry in a column: its rows, and its lane among `lanes` that stand side by side."""

    entry: Entry
    block: Block
    lane: int
    lanes: int


def place(
    entries: Sequence[Entry], day: Day, hours: Minutes, most_lanes: int = MOST_LANES
) -> tuple[list[PlacedEntry], int]:
    """Place a column's entries by their start, and count those for which there is no lane."""
    blocks = []
    for entry in sorted(entries, key=lambda one: (one.starts_at, one.ends_at, one.title)):
        part = day.minutes(entry.starts_at, entry.ends_at)
        block = Block.of(_lengthened(part), hours) if part else None
        if block:
            blocks.append((entry, block))
    blocks.sort(key=lambda pair: pair[1].row)
    placed: list[PlacedEntry] = []
    for group in _overlapping(blocks):
        placed += _in_lanes(group, most_lanes)
    return placed, len(blocks) - len(placed)


def _lengthened(part: Minutes) -> Minutes:
    first, last = part
    return min(first, DAY - SHORTEST), max(last, min(first + SHORTEST, DAY))


def _overlapping(blocks: list[tuple[Entry, Block]]) -> Iterator[list[tuple[Entry, Block]]]:
    """Yield groups of blocks, which are sorted by row. Blocks of different groups do not overlap."""
    group: list[tuple[Entry, Block]] = []
    end = 0
    for entry, block in blocks:
        if group and block.row >= end:
            yield group
            group = []
        group.append((entry, block))
        end = max(end, block.row + block.rows)
    if group:
        yield group


def _in_lanes(group: list[tuple[Entry, Block]], most_lanes: int) -> list[PlacedEntry]:
    ends: list[int] = []
    found: list[tuple[Entry, Block, int]] = []
    for entry, block in group:
        lane = next((lane for lane, end in enumerate(ends) if end <= block.row), len(ends))
        if lane == most_lanes:
            continue
        ends[lane : lane + 1] = [block.row + block.rows]
        found.append((entry, block, lane + 1))
    return [PlacedEntry(entry, block, lane, len(ends)) for entry, block, lane in found]


def gaps(parts: Iterable[Minutes], within: Minutes) -> list[Minutes]:
    """Give the times between the parts, such as the hours at which nobody works."""
    found, end = [], within[0]
    for begins, ends in sorted(parts):
        if begins > end:
            found.append((end, min(begins, within[1])))
        end = max(end, ends)
    if end < within[1]:
        found.append((end, within[1]))
    return [(begins, ends) for begins, ends in found if begins < ends]


def free_hours(parts: Sequence[Minutes], hours: Minutes) -> list[Minutes]:
    """Give the shown hours in which nothing stands."""
    whole = [(begins, begins + HOUR) for begins in range(*hours, HOUR)]
    return [hour for hour in whole if not any(begins < hour[1] and ends > hour[0] for begins, ends in parts)]


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """Join entries that overlap, such as the busy times of one person in several calendars."""
    found: list[Entry] = []
    for entry in sorted(entries, key=lambda one: one.starts_at):
        if found and entry.starts_at <= found[-1].ends_at:
            last = found.pop()
            ends_at = max(last.ends_at, entry.ends_at)
            entry = Entry(
                kind=last.kind,
                starts_at=last.starts_at,
                ends_at=ends_at,
                title=last.title,
                detail=last.detail,
                staff=last.staff,
            )
        found.append(entry)
    return found
