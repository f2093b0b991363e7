"""The times until which a conversation can be snoozed with one click, in the workspace's time zone."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

MORNING = time(9)
MONDAY = 0


@dataclass(frozen=True, slots=True)
class SnoozeTime:
    """An offered time: its name in forms, its label for people, and the moment."""

    name: str
    label: str
    at: datetime


def snooze_times(now: datetime, zone: ZoneInfo) -> list[SnoozeTime]:
    """Return the times that are offered now."""
    local = now.astimezone(zone)
    tomorrow = local.date() + timedelta(days=1)
    monday = tomorrow + timedelta(days=(MONDAY - tomorrow.weekday()) % 7)
    morning = datetime.combine(tomorrow, MORNING, zone)
    offered = [
        SnoozeTime("hour", _("In one hour"), now + timedelta(hours=1)),
        SnoozeTime("three_hours", _("In three hours"), now + timedelta(hours=3)),
        SnoozeTime("tomorrow", _("Tomorrow morning"), morning),
    ]
    if monday != tomorrow:
        offered.append(SnoozeTime("monday", _("Monday morning"), datetime.combine(monday, MORNING, zone)))
    return offered


def read_snooze_time(name: str, until: str, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment that a form asks for, by name or as local time, or None if it is neither."""
    found = next((one.at for one in snooze_times(now, zone) if one.name == name), None)
    if found:
        return found
    try:
        wall_clock = parse_datetime(until)
    except ValueError:
        return None
    return timezone.make_aware(wall_clock, zone) if wall_clock and wall_clock.tzinfo is None else None
