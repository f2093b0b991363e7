"""When a wall clock is, in every time zone there is."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.wall_clock import anchor_of, instant_of, known_zone
from tests.sizes import size


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


ZONES = sorted(available_timezones())
# Where clocks change in ways that others do not: by half an hour, by a day, in the middle of the night, to the minute.
ODD_ZONES = ("Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Asia/Beirut", "America/Nuuk", "Africa/Cairo")
WALLS = st.datetimes(at("2025-01-01"), at("2027-12-31")).map(lambda wall: wall.replace(microsecond=0))


@pytest.mark.parametrize(
    ("wall", "zone", "instant"),
    [
        ("2026-06-01 09:00:00", "UTC", "2026-06-01T09:00:00Z"),
        ("2026-06-01 09:00:00", "Asia/Kathmandu", "2026-06-01T03:15:00Z"),
        ("2026-06-01 09:00:00", "Pacific/Kiritimati", "2026-05-31T19:00:00Z"),
        ("2026-03-08 02:30:00", "America/New_York", "2026-03-08T07:00:00Z"),
        ("2026-03-08 02:00:00", "America/New_York", "2026-03-08T07:00:00Z"),
        ("2026-03-08 02:59:59", "America/New_York", "2026-03-08T07:00:00Z"),
        ("2026-03-08 03:00:00", "America/New_York", "2026-03-08T07:00:00Z"),
        ("2026-03-08 01:59:59", "America/New_York", "2026-03-08T06:59:59Z"),
        ("2026-11-01 01:30:00", "America/New_York", "2026-11-01T05:30:00Z"),
        ("2026-11-01 02:00:00", "America/New_York", "2026-11-01T07:00:00Z"),
        ("2011-12-30 09:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"),
        ("2026-10-04 02:15:00", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ],
)
def test_a_wall_clock_is_at_its_first_moment_or_the_first_after_a_gap(wall: str, zone: str, instant: str) -> None:
    assert instant_of(at(wall), zone) == at(instant)


@pytest.mark.parametrize("zone", [None, "", "Mars/Olympus", "America", "../etc/passwd", "a\0b", "x" * 300])
def test_a_zone_that_there_is_not_is_the_workspaces(zone: str | None) -> None:
    wall = at("2026-06-01 09:00:00")
    assert instant_of(wall, zone, "Asia/Tokyo") == at("2026-06-01T00:00:00Z")
    assert instant_of(wall, zone, "Nowhere/Either") == instant_of(wall, zone) == at("2026-06-01T09:00:00Z")
    assert known_zone(zone, "Asia/Tokyo") == "Asia/Tokyo"
    assert known_zone(zone, zone) == "UTC"


@pytest.mark.parametrize("wall", [at("0001-01-01T00:00:00"), at("9999-12-31T23:59:59")])
def test_a_clock_at_the_ends_of_the_calendar_stays_within_it(wall: datetime) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        assert instant_of(wall, zone).year == wall.year
    assert anchor_of(wall).year == wall.year


def test_all_zones_together_have_38_moments_within_26_hours() -> None:
    wall = at("2026-06-01 09:00:00")
    moments = {instant_of(wall, zone) for zone in ZONES}
    assert len(moments) == 38
    assert max(moments) - min(moments) == timedelta(hours=26)
    assert min(moments) == anchor_of(wall) == at("2026-05-31T19:00:00Z")


@settings(max_examples=size("values", "wall clocks"))
@given(WALLS, st.sampled_from(ZONES) | st.sampled_from(ODD_ZONES))
def test_every_wall_clock_of_every_zone(wall: datetime, zone: str) -> None:
    _check(wall, zone)


def test_every_wall_clock_around_every_change_of_a_year() -> None:
    for zone in ZONES:
        for change in _changes(zone):
            for minutes in (-61, -60, -31, -30, -1, 0, 1, 29, 30, 59, 60, 61):
                local = change.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
                _check(local + timedelta(minutes=minutes), zone)


def _check(wall: datetime, zone: str) -> None:
    clocks = ZoneInfo(zone)
    instant = instant_of(wall, zone)
    shown = instant.astimezone(clocks)
    assert timedelta() <= instant - anchor_of(wall) <= timedelta(hours=26)
    if shown.replace(tzinfo=None) == wall:
        # No moment before it shows the same: whatever offset the zone had in the two days before.
        for hours in range(1, 49, 6):
            offset = (instant - timedelta(hours=hours)).astimezone(clocks).utcoffset()
            assert offset is not None
            earlier = (wall - offset).replace(tzinfo=UTC)
            assert earlier >= instant or earlier.astimezone(clocks).replace(tzinfo=None) != wall
    else:
        just_before = (instant - timedelta(seconds=1)).astimezone(clocks)
        assert just_before.replace(tzinfo=None) < wall < shown.replace(tzinfo=None)


def _changes(zone: str) -> list[datetime]:
    """The hours of 2026 in which the zone's offset changes, by looking at each of them."""
    clocks, start = ZoneInfo(zone), datetime(2026, 1, 1, tzinfo=UTC)
    days = [start + timedelta(days=day) for day in range(366)]
    found = []
    for day, following in pairwise(days):
        if day.astimezone(clocks).utcoffset() != following.astimezone(clocks).utcoffset():
            moments = [day + timedelta(minutes=30 * half) for half in range(49)]
            found += [
                later
                for earlier, later in pairwise(moments)
                if earlier.astimezone(clocks).utcoffset() != later.astimezone(clocks).utcoffset()
            ]
    return found
