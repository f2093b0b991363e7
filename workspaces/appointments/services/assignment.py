"""Finds the person who takes an appointment at a given time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from config.errors import InvalidInput
from config.postgresql.arrays import integers, timestamps
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.availability import load_schedules, rules_of
from workspaces.appointments.services.slots import ONE_DAY, Schedule, SlotRules, local_midnight, slot_starts
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models import Workspace

SECOND: Final = timedelta(seconds=1)
# Fewest minutes in the day, then the one who was booked longest ago, then id.
CHOOSE: Final = """
SELECT member.id
FROM unnest(%(staff)s::bigint[], %(mornings)s::timestamptz[], %(nights)s::timestamptz[])
    AS member (id, morning, night)
ORDER BY
    (SELECT coalesce(sum(least(upper(during), night) - greatest(lower(during), morning)), interval '0')
     FROM appointments_occupancy WHERE staff_id = member.id AND during && tstzrange(morning, night)),
    (SELECT max(created_at) FROM appointments_appointment WHERE staff_id = member.id) NULLS FIRST,
    member.id
LIMIT 1
"""


class NotAnAppointmentService(InvalidInput):
    field = "service"
    message = "The service field must name a service of the kind appointment."


class DurationRequired(InvalidInput):
    field = "service"
    message = "The service needs a duration before it can be booked."


@dataclass(frozen=True, slots=True)
class Slot:
    """A free time of a locked staff member."""

    staff: Staff
    starts_at: datetime
    ends_at: datetime
    during: DateTimeTZRange


def find_slot(
    *,
    workspace: Workspace,
    service: Service,
    candidates: Sequence[Staff],
    starts_at: datetime,
    now: datetime,
    ignoring: Appointment | None = None,
) -> Slot | None:
    """Find out who of the candidates can take an appointment at this time. If several can, `CHOOSE` says who does.

    The caller has locked the candidates and released their expired holds. Raises `NotAnAppointmentService`,
    `DurationRequired`.
    """
    if service.kind != Service.Kind.APPOINTMENT:
        raise NotAnAppointmentService
    rules = rules_of(service, ignoring)
    if rules is None:
        raise DurationRequired
    starts_at, members = starts_at.astimezone(UTC), {one.pk: one for one in candidates}
    last = starts_at + SECOND
    schedules = load_schedules(
        workspace=workspace, staff=list(members), rules=rules, first=starts_at, last=last, now=now, ignoring=ignoring
    )
    free = {
        pk: schedule
        for pk, schedule in schedules.items()
        if slot_starts(schedule, rules, first=starts_at, last=last, now=now) == [starts_at.timestamp()]
    }
    if not free:
        return None
    return _slot_of(members[_choose(free, starts_at)], starts_at, rules)


def occupied_span(starts_at: datetime, ends_at: datetime, *, before: timedelta, after: timedelta) -> DateTimeTZRange:
    return DateTimeTZRange(starts_at - before, ends_at + after, "[)")


def _slot_of(staff: Staff, starts_at: datetime, rules: SlotRules) -> Slot:
    ends_at = starts_at + timedelta(seconds=rules.duration)
    before, after = timedelta(seconds=rules.before), timedelta(seconds=rules.after)
    return Slot(staff, starts_at, ends_at, occupied_span(starts_at, ends_at, before=before, after=after))


def _choose(free: dict[int, Schedule], starts_at: datetime) -> int:
    """Choose one of the people who are free. The day is that of each person's own zone."""
    if len(free) == 1:
        return next(iter(free))
    days = {pk: _local_day(one.zone, starts_at) for pk, one in free.items()}
    values = {
        "staff": integers(free),
        "mornings": timestamps(days[pk][0] for pk in free),
        "nights": timestamps(days[pk][1] for pk in free),
    }
    with connection.cursor() as cursor:
        cursor.execute(CHOOSE, values)
        [pk] = cursor.fetchone()
    return int(pk)


def _local_day(zone: str, moment: datetime) -> tuple[datetime, datetime]:
    day = moment.astimezone(ZoneInfo(zone)).date()
    midnights = (local_midnight(day, zone), local_midnight(day + ONE_DAY, zone))
    morning, night = (datetime.fromtimestamp(second, UTC) for second in midnights)
    return morning, night
