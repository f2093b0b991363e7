"""At which times an appointment may begin: computed from hours, busy times and the rules of a service."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workspaces.appointments.services.slots import Schedule, SlotRules, slot_starts
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services.settings import Interval, checked_intervals

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
# Clocks jump by an hour, by half an hour, at midnight, and not at all with an odd offset.
ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Asia/Kathmandu", "America/St_Johns", "Africa/Cairo")


def rules(**minutes: int) -> SlotRules:
    given = {"duration": 60, "before": 0, "after": 0, "step": 30, "notice": 0, **minutes}
    days = given.pop("horizon_days", 366)
    return SlotRules(horizon_days=days, **{name: number * 60 for name, number in given.items()})


def schedule(*intervals: Sequence[str], zone: str = "UTC", **more: Any) -> Schedule:
    weekly = {day: [list(one) for one in intervals] for day in DAYS}
    return Schedule(**{"zone": zone, "weekly": weekly, "exceptions": {}, "busy": [], **more})


def clocks(found: Sequence[int], zone: str = "UTC") -> list[str]:
    return [datetime.fromtimestamp(start, ZoneInfo(zone)).strftime("%d %H:%M") for start in found]


def of_day(plan: Schedule, wanted: SlotRules, day: date, now: datetime = LONG_AGO) -> list[str]:
    """The starts of a local day."""
    first = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(plan.zone))
    last = datetime.combine(day + DAY, datetime.min.time(), ZoneInfo(plan.zone))
    return clocks(slot_starts(plan, wanted, first=first, last=last, now=now), plan.zone)


def span(start: str, end: str) -> tuple[int, int]:
    moments = [datetime.fromisoformat(f"2026-03-04T{clock}:00+00:00") for clock in (start, end)]
    return int(moments[0].timestamp()), int(moments[1].timestamp())


WEDNESDAY = date(2026, 3, 4)
BUFFERED = rules(before=10, after=15, step=60)


@pytest.mark.parametrize(
    ("plan", "wanted", "starts"),
    [
        (schedule(("09:00", "11:00")), rules(), ["09:00", "09:30", "10:00"]),
        (schedule(("09:10", "11:00")), rules(step=45), ["09:10", "09:55"]),
        (schedule(("09:00", "10:00"), ("10:00", "11:00")), rules(step=60), ["09:00", "10:00"]),
        (schedule(("09:00", "09:59")), rules(), []),
        (schedule(("09:00", "12:00"), busy=[span("10:00", "10:30")]), rules(), ["09:00", "10:30", "11:00"]),
        # With its buffers it needs 09:50 to 11:15, so that it may begin when 15 minutes are left after it.
        (schedule(("09:00", "12:00"), busy=[span("11:15", "12:00")]), BUFFERED, ["09:00", "10:00"]),
        (schedule(("09:00", "12:00"), busy=[span("11:14", "12:00")]), BUFFERED, ["09:00"]),
        (schedule(("09:00", "12:00"), busy=[span("08:00", "08:51")]), BUFFERED, ["10:00", "11:00"]),
        # Buffers may lie outside of working hours.
        (schedule(("09:00", "10:00")), rules(before=60, after=60), ["09:00"]),
        (schedule(("09:00", "10:00"), exceptions={WEDNESDAY: []}), rules(), []),
        (schedule(exceptions={WEDNESDAY: [["14:00", "15:00"]]}), rules(), ["14:00"]),
        # Midnight is no end if work goes on.
        (schedule(("00:00", "00:30"), ("22:00", "24:00")), rules(), ["22:00", "22:30", "23:00", "23:30"]),
        (schedule(("22:00", "24:00")), rules(), ["22:00", "22:30", "23:00"]),
    ],
)
def test_the_starts_of_a_day(plan: Schedule, wanted: SlotRules, starts: list[str]) -> None:
    assert of_day(plan, wanted, WEDNESDAY) == [f"04 {start}" for start in starts]


def test_notice_and_horizon_bound_the_starts() -> None:
    plan, morning = schedule(("09:00", "12:00"), zone="Europe/Berlin"), datetime(2026, 3, 4, 8, 30, tzinfo=UTC)
    assert of_day(plan, rules(notice=30), WEDNESDAY, morning) == ["04 10:00", "04 10:30", "04 11:00"]
    assert of_day(plan, rules(notice=31), WEDNESDAY, morning) == ["04 10:30", "04 11:00"]
    found = slot_starts(plan, rules(horizon_days=1, step=60), first=morning, last=morning + 9 * DAY, now=morning)
    assert clocks(found, plan.zone) == ["04 10:00", "04 11:00", "05 09:00", "05 10:00", "05 11:00"]
    just_after = morning + timedelta(microseconds=1)
    assert of_day(plan, rules(notice=30), WEDNESDAY, just_after)[0] == "04 10:30"


@pytest.mark.parametrize(
    ("zone", "day", "hours", "starts"),
    [
        ("Asia/Kathmandu", WEDNESDAY, ("09:00", "11:00"), ["04 09:00", "04 09:30", "04 10:00"]),
        # 02:00 to 03:00 does not exist, so work begins at 03:00.
        ("Europe/Berlin", date(2026, 3, 29), ("02:30", "04:30"), ["29 03:00", "29 03:30"]),
        ("Europe/Berlin", date(2026, 3, 29), ("01:00", "04:00"), ["29 01:00", "29 01:30", "29 03:00"]),
        # 02:00 to 03:00 comes twice.
        ("Europe/Berlin", date(2026, 10, 25), ("02:00", "03:00"), ["25 02:00", "25 02:30", "25 02:00"]),
        ("America/Havana", date(2026, 3, 8), ("00:00", "02:30"), ["08 01:00", "08 01:30"]),
    ],
)
def test_hours_follow_the_clock_of_the_zone(zone: str, day: date, hours: tuple[str, str], starts: list[str]) -> None:
    assert of_day(schedule(hours, zone=zone), rules(), day) == starts


# Every zone and clock change ------------------------------------------------------------------------------------

TIMES = st.integers(0, 24 * 4).map(lambda quarter: f"{quarter // 4:02}:{quarter % 4 * 15:02}")

ALL_DAY, OVER_MIDNIGHT = [["00:00", "24:00"]], [["00:00", "02:00"], ["20:00", "24:00"]]


@st.composite
def hours_of_a_day(draw: st.DrawFn) -> list[Interval]:
    if draw(st.booleans()):  # work that goes on at midnight
        return draw(st.sampled_from((ALL_DAY, OVER_MIDNIGHT)))
    edges = sorted(draw(st.sets(TIMES, max_size=6)))
    pairs = [[start, end] for start, end in zip(edges[::2], edges[1::2], strict=False)]
    return checked_intervals("monday", pairs)


@cache
def jumps_of(zone: str, year: int = 2027) -> list[datetime]:
    """The hours of a year after which the zone's offset differs, else the first of its hours."""
    start, hour = datetime(year, 1, 1, tzinfo=UTC), timedelta(hours=1)

    def offset(moment: datetime) -> timedelta | None:
        return moment.astimezone(ZoneInfo(zone)).utcoffset()

    days = [start + number * DAY for number in range(365)]
    hours = [day + number * hour for day in days if offset(day) != offset(day + DAY) for number in range(1, 25)]
    return [moment for moment in hours if offset(moment) != offset(moment - hour)] or [start]


def edge(zone: ZoneInfo, day: date, clock: str) -> datetime:
    """The first minute at which the clocks of a zone show this time or a later one of this date, found by looking."""
    day, clock = (day + DAY, "00:00") if clock == "24:00" else (day, clock)
    wall = datetime.combine(day, datetime.min.time()) + timedelta(hours=int(clock[:2]), minutes=int(clock[3:]))
    moment = wall.replace(tzinfo=UTC) - timedelta(hours=15)
    moment += max(timedelta(0), timedelta(hours=14) - (zone.utcoffset(wall) or timedelta(0)) - timedelta(hours=2))
    while moment.astimezone(zone).replace(tzinfo=None) < wall:
        moment += MINUTE
    return moment


def expected(plan: Schedule, wanted: SlotRules, first: datetime, last: datetime, now: datetime) -> list[int]:
    """The same answer from sets of minutes, without any of the product's arithmetic."""
    zone = ZoneInfo(plan.zone)
    work, grid = set[int](), set[int]()
    for number in range(-2, (last - first).days + 4):
        day = first.astimezone(zone).date() + number * DAY
        for begin, end in plan.exceptions.get(day, plan.weekly[DAYS[day.weekday()]]):
            start, stop = (int(edge(zone, day, clock).timestamp()) for clock in (begin, end))
            work |= set(range(start, stop, 60))
            grid |= set(range(start, stop, wanted.step))
    busy = {minute for start, end in plan.busy for minute in range(start, end, 60)}
    horizon = now.astimezone(zone).date() + wanted.horizon_days * DAY
    return [
        start
        for start in sorted(grid)
        if first.timestamp() <= start < last.timestamp()
        and start >= now.timestamp() + wanted.notice
        and datetime.fromtimestamp(start, zone).date() <= horizon
        and work.issuperset(range(start, start + wanted.duration, 60))
        and busy.isdisjoint(range(start - wanted.before, start + wanted.duration + wanted.after, 60))
    ]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Schedule, SlotRules, datetime, datetime, datetime]:
    zone = draw(st.sampled_from(ZONES))
    around = draw(st.sampled_from(jumps_of(zone)))
    first = around + draw(st.integers(-48, 24)) * timedelta(hours=1) + draw(st.integers(0, 59)) * MINUTE
    last = first + draw(st.integers(1, 48)) * timedelta(hours=1)
    now = first - draw(st.integers(-12, 30)) * timedelta(hours=1)
    origin = int(around.timestamp())
    lengths = st.tuples(st.integers(-3_000, 3_000), st.integers(1, 240))
    busy = [(origin + at * 60, origin + (at + length) * 60) for at, length in draw(st.lists(lengths, max_size=6))]
    weekly = {day: draw(hours_of_a_day()) for day in DAYS}
    days = [around.date() + offset * DAY for offset in draw(st.sets(st.integers(-2, 2), max_size=2))]
    plan = Schedule(zone=zone, weekly=weekly, exceptions={day: draw(hours_of_a_day()) for day in days}, busy=busy)
    wanted = rules(
        duration=draw(st.sampled_from((5, 15, 45, 60, 240))),
        before=draw(st.sampled_from((0, 10, 60))),
        after=draw(st.sampled_from((0, 5, 90))),
        step=draw(st.sampled_from((5, 15, 25, 60, 90))),
        notice=draw(st.sampled_from((0, 1, 90, 1_440))),
        horizon_days=draw(st.sampled_from((1, 2, 60))),
    )
    return plan, wanted, first, last, now


ASKED = 60


@settings(max_examples=150, deadline=None)
@given(cases())
def test_a_time_is_offered_exactly_if_it_can_be_booked(
    case: tuple[Schedule, SlotRules, datetime, datetime, datetime],
) -> None:
    """A booking asks for the one second of its start. Every other minute is refused, on the grid and beside it.

    Of each plan's minutes some are asked for, at random.
    """
    plan, wanted, first, last, now = case
    offered = slot_starts(plan, wanted, first=first, last=last, now=now)
    assert offered == expected(plan, wanted, first, last, now)
    asked = {*offered, *(start + beside for start in offered for beside in (-60, 60, 1, wanted.step))}
    asked |= {int(first.timestamp()) + 60 * minute for minute in range(0, int((last - first) / MINUTE), 7)}
    for start in Random(f"{first} {last}").sample(sorted(asked), min(len(asked), ASKED)):
        moment = datetime.fromtimestamp(start, UTC)
        if first <= moment < last:
            alone = slot_starts(plan, wanted, first=moment, last=moment + timedelta(seconds=1), now=now)
            assert (alone == [start]) is (start in set(offered))
