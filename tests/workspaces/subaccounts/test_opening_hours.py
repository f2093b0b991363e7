"""Opening hours: what is taken, and how they read."""

from typing import Any

import pytest

from workspaces.subaccounts.services.settings import OpeningHoursRefused, checked_hours, hours_as_text

WORK = [["09:00", "17:00"]]


def test_all_seven_days_are_kept_in_order_and_those_left_out_are_closed() -> None:
    hours = checked_hours({"sunday": [], "monday": [["14:00", "18:00"], ["09:00", "12:00"]]})
    assert list(hours) == ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    assert hours["monday"] == [["09:00", "12:00"], ["14:00", "18:00"]]
    assert hours["tuesday"] == []


@pytest.mark.parametrize("given", [{}, {"monday": []}])
def test_no_open_day_at_all_is_not_set(given: Any) -> None:
    assert checked_hours(given) == {}


@pytest.mark.parametrize(
    "given",
    [
        "always",
        {"montag": WORK},
        {"monday": "09:00-17:00"},
        {"monday": [["09:00"]]},
        {"monday": [["9:00", "17:00"]]},
        {"monday": [["09:00", "24:30"]]},
        {"monday": [["24:00", "24:00"]]},
        {"monday": [["17:00", "09:00"]]},
        {"monday": [["09:00", "09:00"]]},
        {"monday": [["09:00", "12:00"], ["11:59", "13:00"]]},
        {"monday": [["09:00", None]]},
        {"monday": [[f"{hour:02}:00", f"{hour:02}:30"] for hour in range(7)]},
    ],
)
def test_what_is_no_opening_hours_is_refused(given: Any) -> None:
    with pytest.raises(OpeningHoursRefused):
        checked_hours(given)


def test_they_read_with_days_alike_together() -> None:
    week = dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), WORK)
    saturday = [["10:00", "12:00"], ["13:00", "24:00"]]
    text = hours_as_text(checked_hours({**week, "saturday": saturday}))
    assert text == "Mon\u2013Fri 09:00\u201317:00, Sat 10:00\u201312:00 and 13:00\u201324:00"
    assert hours_as_text(checked_hours({"monday": WORK, "wednesday": WORK})).count("09:00") == 2
    assert hours_as_text({}) == ""
