"""When a business is open, on its own clocks, and when it opens next."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workspaces.automations.execution.opening_hours import WEEKDAYS, is_open, next_opening

BERLIN = "Europe/Berlin"


def clock(text: str) -> str:
    hour, _, minute = text.partition(":")
    return f"{int(hour):02}:{minute or '00'}"


def hours(**days: str) -> dict[str, Any]:
    """Read days such as `9-12, 14-18`; an empty text is closed."""
    parts = {day: filter(None, text.split(", ")) for day, text in days.items()}
    return {day: [[clock(time) for time in part.split("-")] for part in of_day] for day, of_day in parts.items()}


def at(written: str) -> datetime:
    return datetime.fromisoformat(written).astimezone(UTC)


SHOP = hours(monday="9-12, 14-18", tuesday="9-18", saturday="10-24", sunday="0-2")

# 29 March 2026 in Berlin: 02:00 becomes 03:00. 25 October 2026: 03:00 becomes 02:00 again.
NIGHT = hours(sunday="1-2:30, 2:45-4")


@pytest.mark.parametrize(
    ("opening_hours", "now", "opens"),
    [
        # Monday, 5 January 2026: before, in and between the intervals, and at an end.
        (SHOP, "2026-01-05T08:59:59+01:00", "2026-01-05T09:00+01:00"),
        (SHOP, "2026-01-05T09:00+01:00", None),
        (SHOP, "2026-01-05T12:00+01:00", "2026-01-05T14:00+01:00"),
        (SHOP, "2026-01-05T18:00+01:00", "2026-01-06T09:00+01:00"),
        # From Tuesday evening to Saturday, and through the midnight from Saturday to Sunday.
        (SHOP, "2026-01-06T18:00+01:00", "2026-01-10T10:00+01:00"),
        (SHOP, "2026-01-10T23:59:59+01:00", None),
        (SHOP, "2026-01-11T00:00+01:00", None),
        (SHOP, "2026-01-11T02:00+01:00", "2026-01-12T09:00+01:00"),
        # 23:30 UTC on Sunday is Monday in Berlin.
        (hours(monday="0-1"), "2026-01-04T23:30+00:00", None),
        # The day on which clocks skip an hour: 02:30 and 02:45 are both 03:00 in summer time.
        (NIGHT, "2026-03-29T02:59:59+02:00", None),
        (NIGHT, "2026-03-29T03:00+02:00", None),
        (NIGHT, "2026-03-29T04:00+02:00", "2026-04-05T01:00+02:00"),
        (hours(sunday="2:10-2:50"), "2026-03-29T01:30+01:00", "2026-04-05T02:10+02:00"),
        (hours(sunday="2:30-5"), "2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"),
        # The day on which clocks show an hour twice: closed from the first 02:30 to the first 02:45.
        (NIGHT, "2026-10-25T02:29:59+02:00", None),
        (NIGHT, "2026-10-25T02:30+02:00", "2026-10-25T02:45+02:00"),
        (NIGHT, "2026-10-25T02:35+01:00", None),
        (NIGHT, "2026-10-25T04:00+01:00", "2026-11-01T01:00+01:00"),
        # No hours are set: always open.
        ({}, "2026-01-05T03:00+01:00", None),
        (hours(monday="", tuesday=""), "2026-01-05T03:00+01:00", None),
    ],
)
def test_open_now_or_at_the_next_opening(opening_hours: dict[str, Any], now: str, opens: str | None) -> None:
    assert is_open(opening_hours, BERLIN, at(now)) == (opens is None)
    assert next_opening(opening_hours, BERLIN, at(now)) == at(opens or now)


def test_an_unknown_zone_is_utc() -> None:
    assert not is_open(hours(monday="9-10"), "Mars/Olympus", at("2026-01-05T08:59+00:00"))
    assert next_opening(hours(monday="9-10"), "", at("2026-01-05T08:59+00:00")) == at("2026-01-05T09:00+00:00")


INTERVALS = st.lists(st.integers(0, 96), unique=True, max_size=8).map(
    lambda quarters: [
        [f"{start // 4:02}:{start % 4 * 15:02}", f"{end // 4:02}:{end % 4 * 15:02}"]
        for start, end in zip(sorted(quarters)[::2], sorted(quarters)[1::2], strict=False)
    ]
)
WEEKS = st.fixed_dictionaries(dict.fromkeys(WEEKDAYS, INTERVALS))
MINUTES = st.integers(0, 366 * 24 * 60).map(lambda minutes: at("2026-01-01T00:00+00:00") + timedelta(minutes=minutes))
# Clocks change at midnight in Cairo and Havana, by half an hour in Lord Howe, and never in Kathmandu.
ZONES = st.sampled_from((BERLIN, "Africa/Cairo", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu"))


@settings(max_examples=200)
@given(opening_hours=WEEKS, zone=ZONES, now=MINUTES)
def test_a_business_is_open_at_its_next_opening_and_closed_until_then(
    opening_hours: dict[str, Any], zone: str, now: datetime
) -> None:
    opens = next_opening(opening_hours, zone, now)
    assert is_open(opening_hours, zone, opens)
    assert is_open(opening_hours, zone, now) == (opens == now)
    before = opens - timedelta(seconds=1)
    assert before < now or not is_open(opening_hours, zone, before)
    assert now <= opens <= now + timedelta(days=14)
