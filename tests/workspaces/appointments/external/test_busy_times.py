"""The busy times of ICS files, good and hostile."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspaces.appointments.external.files import FIRST, LAST, event, ics
from workspaces.appointments.services.calendar_program import CalendarRejected, busy_times
from workspaces.appointments.services.calendar_reading import CalendarFault, read_busy

HOUR = "DURATION:PT1H"


def times(data: bytes, zone: str = "Europe/Berlin") -> list[str]:
    found = busy_times(data, first=FIRST, last=LAST, zone=zone)
    return [f"{start:%m-%d %H:%M}/{end:%m-%d %H:%M}" for start, end in found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["DTSTART:20261201T090000Z", "DTEND:20261201T100000Z"], ["12-01 09:00/12-01 10:00"]),
        (["DTSTART:20261201T090000", HOUR], ["12-01 08:00/12-01 09:00"]),
        (["DTSTART;TZID=America/New_York:20261201T090000", HOUR], ["12-01 14:00/12-01 15:00"]),
        (["DTSTART;TZID=W. Europe Standard Time:20261201T090000", HOUR], ["12-01 08:00/12-01 09:00"]),
        (["DTSTART;TZID=Nowhere:20261201T090000", HOUR], ["12-01 08:00/12-01 09:00"]),
        (["DTSTART;VALUE=DATE:20261201", "DTEND;VALUE=DATE:20261203"], ["11-30 23:00/12-02 23:00"]),
        (["DTSTART;VALUE=DATE:20261201"], ["11-30 23:00/12-01 23:00"]),
        (["DTSTART:20261201T090000Z"], []),
        (["DTSTART:20261201T090000Z", HOUR, "TRANSP:TRANSPARENT"], []),
        (["DTSTART:20261201T090000Z", HOUR, "STATUS:CANCELLED"], []),
        (["DTSTART:20261201T090000Z", HOUR, "X-MICROSOFT-CDO-BUSYSTATUS:FREE"], []),
        (["DTSTART:20261030T090000Z", HOUR], []),
        (["DTSTART:20261031T230000Z", "DURATION:PT2H"], ["11-01 00:00/11-01 01:00"]),
        # The clock goes back in New York on 1 November, and forward on 14 March; the hour stays.
        (
            ["DTSTART;TZID=America/New_York:20261025T090000", HOUR, "RRULE:FREQ=WEEKLY;UNTIL=20261108T140000Z"],
            ["11-01 14:00/11-01 15:00", "11-08 14:00/11-08 15:00"],
        ),
        (
            ["DTSTART;TZID=America/New_York:20270307T090000", HOUR, "RRULE:FREQ=WEEKLY;COUNT=2"],
            ["03-07 14:00/03-07 15:00", "03-14 13:00/03-14 14:00"],
        ),
        (
            ["DTSTART:20261201T090000Z", HOUR, "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20261202T090000Z"],
            ["12-01 09:00/12-01 10:00", "12-03 09:00/12-03 10:00"],
        ),
        (
            ["DTSTART:20261201T090000Z", HOUR, "RDATE:20261205T120000Z,20261206T120000Z"],
            ["12-01 09:00/12-01 10:00", "12-05 12:00/12-05 13:00", "12-06 12:00/12-06 13:00"],
        ),
        (
            ["DTSTART:20261113T090000Z", HOUR, "RRULE:FREQ=MONTHLY;BYDAY=2FR;COUNT=2"],
            ["11-13 09:00/11-13 10:00", "12-11 09:00/12-11 10:00"],
        ),
    ],
)
def test_an_event_keeps_a_person_busy(lines: list[str], expected: list[str]) -> None:
    assert times(ics(event(*lines))) == expected


def test_events_are_joined_and_moved_repetitions_count_where_they_are() -> None:
    weekly = event("DTSTART:20261201T090000Z", HOUR, "RRULE:FREQ=WEEKLY;COUNT=3")
    moved = event("RECURRENCE-ID:20261208T090000Z", "DTSTART:20261208T120000Z", HOUR)
    dropped = event("RECURRENCE-ID:20261215T090000Z", "DTSTART:20261215T090000Z", HOUR, "STATUS:CANCELLED")
    beside = event("DTSTART:20261201T093000Z", HOUR, uid="b")
    expected = ["12-01 09:00/12-01 10:30", "12-08 12:00/12-08 13:00"]
    assert times(ics(weekly, moved, dropped, beside)) == expected
    assert times(ics("X-WR-TIMEZONE:Asia/Tokyo", event("DTSTART:20261201T090000", HOUR))) == ["12-01 00:00/12-01 01:00"]


ENDLESS = "RRULE:FREQ=DAILY;BYHOUR=0,2,4,6,8,10,12,14,16,18,20,22;BYMINUTE=0,30"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not_a_calendar"),
        (b"<html>no calendar</html>", "not_a_calendar"),
        (ics(event("DTSTART:2026")), "not_a_calendar"),
        (ics("BEGIN:VEVENT"), "not_a_calendar"),
        (b"BEGIN:VCALENDAR\r\n" * 100_000, "not_a_calendar"),
        (ics("BEGIN:VTODO\r\n" * 5 + "END:VTODO\r\n" * 5), "not_a_calendar"),
        (ics(event(f"EXDATE:{'2' * 200_000}")), "not_a_calendar"),
        (ics(event("DTSTART:20261201T090000Z")).decode().encode("utf-16"), "wrong_encoding"),
        (ics(event("SUMMARY:\xe4")).replace(b"\xc3\xa4", b"\xe4"), "wrong_encoding"),
        (ics(*[event("DTSTART:20261201T090000Z")] * 5_001), "too_many_events"),
        (ics(event("DTSTART:20261201T090000Z", "DURATION:PT1M", ENDLESS)), "too_many_events"),
        (ics(*[event("DTSTART:00010101T000000Z", "RRULE:FREQ=DAILY")] * 9), "too_many_events"),
        (ics(event("DTSTART:20261201T090000Z", HOUR, "RRULE:FREQ=SECONDLY")), "recurrence_refused"),
        (ics(event("DTSTART:20261201T090000Z", HOUR, "RRULE:FREQ=HOURLY")), "recurrence_refused"),
    ],
)
def test_a_hostile_file_is_refused_with_a_code(data: bytes, code: str) -> None:
    with pytest.raises(CalendarRejected) as refused:
        busy_times(data, first=FIRST, last=LAST, zone="Europe/Berlin")
    assert str(refused.value) == code


@pytest.mark.slow
def test_a_rule_that_never_ends_ends_its_process_and_not_the_worker() -> None:
    never = "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"
    with pytest.raises(CalendarFault) as fault:
        read_busy(ics(*[event("DTSTART:20261201T090000Z", never)] * 500), zone="UTC", now=FIRST, cpu_seconds=1)
    assert fault.value.code == "too_much_work"
    assert len(read_busy(ics(event("DTSTART:20261201T090000Z", HOUR)), zone="UTC", now=FIRST)) == 1


PROPERTIES = st.sampled_from(
    [
        *("DTSTART:20261201T090000Z", "DTSTART;VALUE=DATE:20261201", "DTSTART;TZID=Europe/Berlin:20261201T090000"),
        *("DTEND:20261201T100000Z", "DTEND;VALUE=DATE:20261202", "DURATION:-P1D", HOUR, "STATUS:X", "TRANSP:"),
        *("RRULE:FREQ=WEEKLY;COUNT=5", "RRULE:FREQ=", "RRULE:FREQ=DAILY;INTERVAL=0;COUNT=1", "RRULE:UNTIL=x"),
        *("RDATE;VALUE=PERIOD:20261203T090000Z/PT1H", "EXDATE:x", "RECURRENCE-ID;VALUE=DATE:20261201", "BEGIN:VALARM"),
        *("END:VALARM", "END:VEVENT", "BEGIN:VEVENT", " folded", "BEGIN:VTIMEZONE", "END:VTIMEZONE", "TZID:x", "\x00"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PROPERTIES | st.text(max_size=20), max_size=12))
def test_any_file_gives_times_in_order_or_a_code(lines: list[str]) -> None:
    with suppress(CalendarRejected):
        found = busy_times(ics(event(*lines)), first=FIRST, last=LAST, zone="Europe/Berlin")
        assert all(FIRST <= one.start < one.end <= LAST for one in found)
        assert all(before.end < after.start for before, after in pairwise(found))
