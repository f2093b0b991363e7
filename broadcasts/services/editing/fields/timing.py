"""A broadcast's time: one moment for all, or a wall clock in each contact's zone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.dateparse import parse_datetime

from broadcasts.models import Broadcast
from broadcasts.services.errors import BroadcastRefused
from broadcasts.services.progress.schedule import anchor_of

WALL_CLOCK: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", re.ASCII)
FORM: Final = "%Y-%m-%d %H:%M:%S"
# Years so far from the ends of the calendar that no zone's offset passes them.
YEARS: Final = range(2000, 3000)
IN_TIME_ZONES: Final = Broadcast.TimezoneMode.CONTACT


def checked_timing(mode: str, at: Any, wall: Any) -> tuple[datetime | None, str | None]:
    """Return `scheduled_at` and `scheduled_local_at` in their stored form.

    The mode uses only one of the arguments and ignores the other. `at` is a time, or an ISO 8601 text with an offset.
    Raises `BroadcastRefused`.
    """
    if mode == IN_TIME_ZONES:
        checked = _wall_clock(wall)
        return anchor_of(checked), checked.strftime(FORM)
    return (None if at is None else _moment(at)), None


def _wall_clock(wall: Any) -> datetime:
    if wall is None:
        raise BroadcastRefused(
            "The scheduled local at field is required with the contacts' own time.", field="scheduled_local_at"
        )
    try:
        # The wall clock has no zone, because it is a different moment in each zone.
        found = datetime.strptime(wall, FORM) if WALL_CLOCK.fullmatch(wall) else None  # noqa: DTZ007
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise BroadcastRefused(
            "The scheduled local at field must be a wall clock such as 2026-12-24 09:00:00, without an offset.",
            field="scheduled_local_at",
        )
    return _within_calendar(found, "scheduled_local_at")


def _moment(at: Any) -> datetime:
    try:
        found = parse_datetime(at) if isinstance(at, str) else at
    except ValueError:
        found = None
    if not isinstance(found, datetime) or found.tzinfo is None:
        raise BroadcastRefused("The scheduled at field must be an ISO 8601 time with an offset.", field="scheduled_at")
    return _within_calendar(found, "scheduled_at").astimezone(UTC)


def _within_calendar(moment: datetime, field: str) -> datetime:
    if moment.year not in YEARS:
        words = field.replace("_", " ")
        raise BroadcastRefused(f"The {words} field must be in the years 2000 to 2999.", field=field)
    return moment


# The last zone reaches a wall clock this long after the first zone.
ALL_ZONES: Final = timedelta(hours=26)
