"""Finds free times: loads hours and busy times of all staff at once, and asks `slots` for the starts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db import connection

from config.errors import InvalidInput
from config.postgresql.arrays import integers
from workspaces.appointments.models import Appointment, HoursException, WorkingHours
from workspaces.appointments.services.slots import ONE_DAY, Schedule, SlotRules, Span, slot_starts
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.settings import Interval

LONGEST_RANGE: Final = timedelta(days=31)
MINUTE: Final = 60
# A person's local dates begin up to so much earlier or later than the dates in UTC.
LOCAL: Final = timedelta(days=2)
BUSY_SECONDS: Final = """
SELECT staff_id, floor(extract(epoch FROM starts_at))::bigint, ceil(extract(epoch FROM ends_at))::bigint
FROM (
    SELECT staff_id, lower(during), upper(during) FROM appointments_occupancy
    WHERE staff_id = ANY(%(staff)s::bigint[]) AND during && tstzrange(%(first)s, %(last)s)
        AND (expires_at IS NULL OR expires_at > %(now)s)
        AND (appointment_id IS NULL OR appointment_id IS DISTINCT FROM %(ignoring)s)
    UNION ALL
    SELECT staff_id, starts_at, ends_at FROM appointments_timeoff
    WHERE staff_id = ANY(%(staff)s::bigint[]) AND ends_at > %(first)s AND starts_at < %(last)s
    UNION ALL
    SELECT staff_id, greatest(lower(during), %(first)s), least(upper(during), %(last)s) FROM appointments_externalbusy
    WHERE staff_id = ANY(%(staff)s::bigint[]) AND during && tstzrange(%(first)s, %(last)s)
) AS busy (staff_id, starts_at, ends_at)
"""


class RangeRefused(InvalidInput):
    field = "to"
    message = "The to field must be later than the from field, by at most 31 days."


@dataclass(frozen=True, slots=True)
class FreeTime:
    """A time at which an appointment can be booked, with everybody who is free then, in the order of their ids."""

    starts_at: datetime
    ends_at: datetime
    staff: tuple[Staff, ...]


@dataclass(frozen=True, slots=True)
class FreeTimesPart:
    """The first free times of a range. The others begin at `next_from`, which is None if there are none."""

    times: list[FreeTime]
    next_from: datetime | None


@dataclass(frozen=True, slots=True)
class _Search:
    """What was loaded for a range, and finds the free times of any part of it."""

    rules: SlotRules
    members: Mapping[int, Staff]
    schedules: Mapping[int, Schedule]
    now: datetime

    def between(self, first: datetime, last: datetime) -> list[FreeTime]:
        free: defaultdict[int, list[int]] = defaultdict(list)
        for pk, schedule in self.schedules.items():
            for start in slot_starts(schedule, self.rules, first=first, last=last, now=self.now):
                free[start].append(pk)
        groups = {tuple(pks) for pks in free.values()}
        people = {group: tuple(self.members[pk] for pk in group) for group in groups}
        length = self.rules.duration
        return [
            FreeTime(datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(start + length, UTC), people[group])
            for start, group in sorted((start, tuple(pks)) for start, pks in free.items())
        ]


def free_times(
    *,
    workspace: Workspace,
    service: Service,
    first: datetime,
    last: datetime,
    now: datetime,
    staff: Staff | None = None,
    ignoring: Appointment | None = None,
) -> list[FreeTime]:
    """Return the times at which the service can be booked, that begin from `first` up to and without `last`.

    With `staff`, only that person's times. `ignoring` is an appointment that would be moved: its own time counts as
    free, and it keeps its length. Raises `RangeRefused` for more than 31 days.
    """
    search = _search(workspace, service, first, last, now, staff, ignoring)
    return search.between(first, last) if search else []


def first_free_times(
    *,
    workspace: Workspace,
    service: Service,
    first: datetime,
    last: datetime,
    now: datetime,
    most: int,
    staff: Staff | None = None,
) -> FreeTimesPart:
    """Return the first of these free times: so many that they name `most` people, the last time with all of its people.

    It computes a day, then two days, then four, and stops at the next free time. Raises `RangeRefused`.
    """
    search = _search(workspace, service, first, last, now, staff, None)
    found: list[FreeTime] = []
    named, begin, length = 0, first, ONE_DAY
    while search and begin < last:
        end = last if last - begin <= length else begin + length
        for one in search.between(begin, end):
            if named >= most:
                return FreeTimesPart(found, one.starts_at)
            found.append(one)
            named += len(one.staff)
        begin, length = end, 2 * length
    return FreeTimesPart(found, None)


def _search(
    workspace: Workspace,
    service: Service,
    first: datetime,
    last: datetime,
    now: datetime,
    staff: Staff | None,
    ignoring: Appointment | None,
) -> _Search | None:
    """Load what a range needs; None if nothing can be free. Raises `RangeRefused`."""
    if not timedelta(0) < last - first <= LONGEST_RANGE:
        raise RangeRefused
    rules = rules_of(service, ignoring)
    members = {one.pk: one for one in providers_of(service, staff=staff, ignoring=ignoring)}
    if rules is None or not members:
        return None
    schedules = load_schedules(
        workspace=workspace, staff=list(members), rules=rules, first=first, last=last, now=now, ignoring=ignoring
    )
    return _Search(rules, members, schedules, now) if schedules else None


def rules_of(service: Service, moved: Appointment | None = None) -> SlotRules | None:
    """Return what the service asks of a start; None if it takes no appointments. A moved one keeps its length."""
    if service.kind != Service.Kind.APPOINTMENT:
        return None
    duration = (service.duration_minutes or 0) * MINUTE
    if moved is not None:
        duration = int((moved.ends_at - moved.starts_at).total_seconds())
    if not duration:
        return None
    return SlotRules(
        duration=duration,
        before=service.buffer_before * MINUTE,
        after=service.buffer_after * MINUTE,
        step=service.step_minutes * MINUTE,
        notice=service.notice_minutes * MINUTE,
        horizon_days=service.horizon_days,
    )


def providers_of(service: Service, *, staff: Staff | None = None, ignoring: Appointment | None = None) -> list[Staff]:
    """Return who may take an appointment, by id: the service's staff, and the one who has the moved appointment."""
    found = Staff.objects.filter(pk__in=service.provided_by.values("staff"))
    if ignoring is not None:
        found |= Staff.objects.filter(pk=ignoring.staff_id)
    found = found.filter(workspace=service.workspace_id, deleted_at=None)
    return list((found.filter(pk=staff.pk) if staff else found).order_by("pk"))


def load_schedules(
    *,
    workspace: Workspace,
    staff: Sequence[int],
    rules: SlotRules,
    first: datetime,
    last: datetime,
    now: datetime,
    ignoring: Appointment | None = None,
) -> dict[int, Schedule]:
    """Load the hours and busy times of these people for starts in a range, with one statement for each table.

    A person without working hours works at the opening hours of the business. Nobody is returned for a range that is
    over or beyond the horizon.
    """
    first, last = max(first, now), min(last, now + rules.horizon_days * ONE_DAY + LOCAL)
    if first >= last:
        return {}
    zone, opening = Workspace.objects.values_list("timezone", "opening_hours").get(pk=workspace.pk)
    hours = {row.pk: row for row in WorkingHours.objects.filter(staff__in=staff)}
    exceptions = _exceptions(staff, first - LOCAL, last + LOCAL + timedelta(seconds=rules.duration))
    busy = _busy(staff, rules, first, last, now, ignoring)
    return {
        pk: Schedule(
            zone=hours[pk].timezone if pk in hours else zone,
            weekly=hours[pk].weekly if pk in hours else opening,
            exceptions=exceptions.get(pk, {}),
            busy=busy.get(pk, ()),
        )
        for pk in staff
    }


def _exceptions(staff: Iterable[int], first: datetime, last: datetime) -> dict[int, dict[date, list[Interval]]]:
    rows = HoursException.objects.filter(staff__in=staff, date__range=(first.date(), last.date()))
    found: defaultdict[int, dict[date, list[Interval]]] = defaultdict(dict)
    for pk, day, intervals in rows.values_list("staff", "date", "intervals"):
        found[pk][day] = intervals
    return found


def _busy(
    staff: Sequence[int], rules: SlotRules, first: datetime, last: datetime, now: datetime, ignoring: Appointment | None
) -> dict[int, list[Span]]:
    values: dict[str, str | datetime | int | None] = {
        "staff": integers(staff),
        "first": first - timedelta(seconds=rules.before),
        "last": last + timedelta(seconds=rules.duration + rules.after),
        "now": now,
        "ignoring": None if ignoring is None else ignoring.pk,
    }
    found: defaultdict[int, list[Span]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(BUSY_SECONDS, values)
        for pk, start, end in cursor.fetchall():
            found[pk].append((start, end))
    return found
