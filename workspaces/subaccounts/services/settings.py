"""A workspace's settings and their checks, and its opening hours."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from config.errors import InvalidInput
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS

Interval = list[str]
OpeningHours = dict[str, list[Interval]]

MOST_INTERVALS = 6
DASH = "\u2013"
TIME = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d|24:00")


class OpeningHoursRefused(InvalidInput):
    """`day` is the wrong day; empty if the error is not in one day."""

    field = "opening_hours"

    def __init__(self, message: str, day: str = "") -> None:
        self.day = day
        super().__init__(message, field=f"opening_hours.{day}" if day else "opening_hours")


def checked_hours(given: object) -> OpeningHours:
    """Give all seven days with sorted intervals. Days left out are closed. Without an open day the result is empty.

    Raises `OpeningHoursRefused`.
    """
    if not isinstance(given, Mapping):
        raise OpeningHoursRefused("The opening hours field must be an object of days.")
    check_days(given)
    hours = {day: checked_intervals(day, given.get(day) or []) for day in DAYS}
    return hours if any(hours.values()) else {}


def check_days(given: Mapping[str, object]) -> None:
    """Raise `OpeningHoursRefused` for a key that is not a day."""
    if not given.keys() <= set(DAYS):
        raise OpeningHoursRefused("The opening hours field takes the days monday to sunday.")


def checked_intervals(day: str, intervals: object) -> list[Interval]:
    """Give the intervals of one day, sorted. `day` names it in refusals. Raises `OpeningHoursRefused`."""
    if not isinstance(intervals, list) or not all(map(_is_interval, intervals)):
        raise OpeningHoursRefused(f'The hours of {day} must be a list of pairs such as ["09:00", "17:00"].', day)
    if len(intervals) > MOST_INTERVALS:
        raise OpeningHoursRefused(f"The hours of {day} may have at most {MOST_INTERVALS} intervals.", day)
    ordered = sorted(intervals)
    if any(start >= end for start, end in ordered):
        raise OpeningHoursRefused(f"On {day} an interval must end after it starts; midnight is 24:00.", day)
    if any(earlier[1] > later[0] for earlier, later in pairwise(ordered)):
        raise OpeningHoursRefused(f"The hours of {day} must not overlap.", day)
    return ordered


def _is_interval(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(time, str) and TIME.fullmatch(time) for time in value)
        and value[0] != "24:00"
    )


def hours_as_text(hours: Mapping[str, list[Interval]]) -> str:
    """Write opening hours in one line that groups equal days, such as `Mon-Fri 09:00-17:00, Sat 10:00-14:00`."""
    runs = groupby(DAYS, key=lambda day: hours.get(day) or [])
    return ", ".join(f"{_days_as_text(list(days))} {day_as_text(alike)}" for alike, days in runs if alike)


def _days_as_text(days: list[str]) -> str:
    first, last = days[0][:3].capitalize(), days[-1][:3].capitalize()
    return first if first == last else first + DASH + last


def day_as_text(intervals: list[Interval]) -> str:
    return " and ".join(start + DASH + end for start, end in intervals)


LINKS = ("website", "booking_link", "review_link", "menu_link")
TEXTS = ("address", "phone", "email", *LINKS)
PHONE = re.compile(r"\+?[0-9(][0-9 ()./-]{4,38}")
validate_link = URLValidator(schemes=["http", "https"])


class SettingRefused(InvalidInput):
    """A setting does not have the form that it needs, such as that of a phone number."""


def checked_settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Give the changes in the form in which they are stored. Raises `OpeningHoursRefused`, `SettingRefused`."""
    changes = dict(changes)
    if "opening_hours" in changes:
        changes["opening_hours"] = checked_hours(changes["opening_hours"])
    if changes.get("phone") and not PHONE.fullmatch(changes["phone"]):
        raise SettingRefused("The phone field must be a phone number such as +49 30 1234567.", field="phone")
    for name in LINKS:
        if changes.get(name):
            _check_link(name, changes[name])
    return changes


def _check_link(name: str, link: str) -> None:
    try:
        validate_link(link)
    except ValidationError as error:
        words = name.replace("_", " ")
        message = f"The {words} field must be an address that begins with http:// or https://."
        raise SettingRefused(message, field=name) from error


@dataclass(frozen=True, slots=True)
class SettingDefault:
    """Gives the value of a setting that the workspace has not set. `name` is the setting, such as `booking_link`."""

    name: str
    value_for: Callable[[Workspace], str]


setting_defaults = Registry[SettingDefault](
    "defaults of settings",
    called="`settings_in_texts` calls those of the settings that are empty, when texts of the workspace are filled in",
    transaction="the caller's, if it has one",
    failure="ends the caller: the page or call answers 500, and a run of an automation is tried again",
)


def settings_in_texts(workspace: Workspace) -> dict[str, str]:
    """Give the value of each `{{workspace.…}}` variable by its name. A setting that is not set is empty."""
    texts = {name: getattr(workspace, name) for name in TEXTS}
    for default in setting_defaults:
        texts[default.name] = texts[default.name] or default.value_for(workspace)
    return {"name": workspace.name, "opening_hours": hours_as_text(workspace.opening_hours), **texts}
