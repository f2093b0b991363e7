"""Creates, changes and ends series of classes, whose classes `series_making` makes ahead of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, TypedDict, Unpack
from zoneinfo import ZoneInfo

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import changes_to
from config.db import database_now
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import share_lock_service, share_lock_staff
from workspaces.catalogue.services.services import check_row_limit
from workspaces.classes.models import ClassSeries, ClassSession, LeftOutDate
from workspaces.classes.services.changes import ClassChanges, apply_changes, lock_hosts
from workspaces.classes.services.series_dates import dates_of, times_of
from workspaces.classes.services.sessions import YEARS, NotAClassService, Status, TimeOutOfRange, cancel_class
from workspaces.subaccounts.models import Workspace

MOST_SERIES: Final = 500
# A change of these fields begins the rule anew at the date of the change.
RULE_FIELDS: Final = frozenset({"interval", "unit"})


class ClassSeriesNotFound(NotFound):
    message = "Class series not found."


class ClassSeriesIsEnded(Conflict):
    message = "This class series has ended."


class ClassSeriesLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_SERIES} class series that go on."


class DurationRequired(InvalidInput):
    field = "duration_minutes"
    message = "The duration minutes field is required, as the service has no duration."


class WeekdaysRefused(InvalidInput):
    field = "weekdays"
    message = "The weekdays field is required for a series in weeks, and refused for others."


class TwoEnds(InvalidInput):
    field = "count"
    message = "A class series ends by the until field or by the count field, not by both."


class EndBeforeFirstDate(InvalidInput):
    field = "until"
    message = "The until field must not be earlier than the first date."


class ChangeDateRefused(InvalidInput):
    """A series changes from today at the earliest, and on the day after its last made class at the latest."""

    def __init__(self, first: date, last: date) -> None:
        super().__init__(f"The from field must be a date from {first} to {last}.", field="from")


class ClassSeriesChanges(TypedDict, total=False):
    """The fields of a series that can change. Fields left out stay."""

    staff: Staff | None
    start_time: time
    duration_minutes: int
    capacity: int
    interval: int
    unit: str
    weekdays: Sequence[int]
    until: date | None
    count: int | None


@dataclass(frozen=True, slots=True)
class SeriesOutcome:
    """What a change did to the coming classes that were made already.

    `kept` counts those that stayed as they were, because contacts have joined or wait, or because they were changed by
    themselves.
    """

    series: ClassSeries
    changed: int
    cancelled: int
    kept: int


@transaction.atomic
def create_series(
    *,
    workspace: Workspace,
    service: Service,
    first_date: date,
    start_time: time,
    timezone: str,
    capacity: int,
    now: datetime,
    by: Actor,
    staff: Staff | None = None,
    duration_minutes: int | None = None,
    interval: int = 1,
    unit: str = ClassSeries.Unit.WEEKS,
    weekdays: Sequence[int] = (),
    until: date | None = None,
    count: int | None = None,
) -> ClassSeries:
    """Create a series. A task makes its classes a moment later. Without weekdays a series in weeks has its first one's.

    Raises `ClassSeriesLimitReached`, `DurationRequired`, `EndBeforeFirstDate`, `NotAClassService`, `ServiceNotFound`,
    `StaffNotFound`, `TimeOutOfRange`, `TwoEnds`, `WeekdaysRefused`.
    """
    going_on = ClassSeries.objects.of(workspace).filter(due_at__isnull=False)
    check_row_limit(workspace, going_on, most=MOST_SERIES, full=ClassSeriesLimitReached)
    _share_lock(service, staff)
    in_weeks = unit == ClassSeries.Unit.WEEKS
    series = ClassSeries(
        workspace=workspace,
        service=service,
        staff=staff,
        first_date=first_date,
        start_time=start_time,
        timezone=timezone,
        duration_minutes=duration_minutes or service.duration_minutes or 0,
        capacity=capacity,
        interval=interval,
        unit=unit,
        weekdays=sorted(set(weekdays)) or ([first_date.weekday()] if in_weeks else []),
        until=until,
        count=count,
        due_at=database_now(),
        created_at=now,
    )
    _check_rule(series)
    series.save()
    _record(series, "created", by)
    return series


@transaction.atomic
def change_series(
    *, series: ClassSeries, first: date, now: datetime, by: Actor, **changes: Unpack[ClassSeriesChanges]
) -> SeriesOutcome:
    """Change a series for the classes from a date on.

    Classes that nobody has joined follow: they move, and are cancelled where the rule has no class any more. The task
    makes those that are new. Raises `ChangeDateRefused`, `ClassSeriesIsEnded`, and the same as `create_series`.
    """
    series = _lock_going_on(series)
    lock_hosts(series.staff_id, changes.get("staff"))
    _check_change_date(series, first, now)
    _apply(series, first, changes)
    _check_rule(series)
    outcome = _move_classes(series, first, now, by)
    LeftOutDate.objects.filter(series=series, date__gte=first).delete()
    if series.made_through is not None:
        series.made_through = min(first - timedelta(days=1), series.made_through)
    series.due_at = database_now()
    series.save()
    _record(series, "changed", by)
    return outcome


@transaction.atomic
def end_series(*, series: ClassSeries, now: datetime, by: Actor) -> SeriesOutcome:
    """End a series: no more classes are made, and coming classes that nobody has joined are cancelled.

    Raises `ClassSeriesIsEnded`.
    """
    series = _lock_going_on(series)
    series.ended_at, series.due_at = now, None
    series.save(update_fields=["ended_at", "due_at"])
    coming = _coming_classes(series, None, now)
    going = [session for session in coming if not _is_joined(session)]
    for session in going:
        cancel_class(session=session, now=now, by=by)
    _record(series, "ended", by)
    return SeriesOutcome(series, changed=0, cancelled=len(going), kept=len(coming) - len(going))


def today_of(series: ClassSeries, now: datetime) -> date:
    return now.astimezone(ZoneInfo(series.timezone)).date()


def _share_lock(service: Service, staff: Staff | None) -> None:
    share_lock_service(service)
    share_lock_staff(staff)
    if service.kind != Service.Kind.CLASS:
        raise NotAClassService


def _lock_going_on(series: ClassSeries) -> ClassSeries:
    rows = ClassSeries.objects.select_for_update(no_key=True, of=("self",)).select_related("workspace")
    locked = rows.with_names().get(pk=series.pk)
    if locked.is_ended:
        raise ClassSeriesIsEnded
    return locked


def _apply(series: ClassSeries, first: date, changes: ClassSeriesChanges) -> None:
    differences = {name for name, (before, after) in changes_to(series, changes).items() if before != after}
    for name, value in changes.items():
        setattr(series, name, value)
    if series.unit != ClassSeries.Unit.WEEKS:
        series.weekdays = list(changes.get("weekdays", ()))
    elif "unit" in differences and not changes.get("weekdays"):
        series.weekdays = [first.weekday()]
    series.weekdays = sorted(set(series.weekdays))
    if RULE_FIELDS & differences:
        series.first_date = first


def _check_rule(series: ClassSeries) -> None:
    if not series.duration_minutes:
        raise DurationRequired
    if series.first_date.year not in YEARS:
        raise TimeOutOfRange("first_date")
    if (series.unit == ClassSeries.Unit.WEEKS) != bool(series.weekdays):
        raise WeekdaysRefused
    if series.until is not None and series.count is not None:
        raise TwoEnds
    if series.until is not None and series.until < series.first_date:
        raise EndBeforeFirstDate


def _check_change_date(series: ClassSeries, first: date, now: datetime) -> None:
    today = today_of(series, now)
    last = max(today, (series.made_through or today) + timedelta(days=1))
    if not today <= first <= last:
        raise ChangeDateRefused(today, last)


def _coming_classes(series: ClassSeries, first: date | None, now: datetime) -> list[ClassSession]:
    """Lock the classes that were made and have not started, in the order of their ids."""
    rows = ClassSession.objects.filter(series=series, status=Status.SCHEDULED, starts_at__gt=now)
    rows = rows if first is None else rows.filter(series_date__gte=first)
    locked = rows.select_for_update(no_key=True, of=("self",)).select_related("workspace").with_names()
    return list(locked.order_by("pk"))


def _is_joined(session: ClassSession) -> bool:
    return session.participants_count > 0 or session.waiting.exists()


def _move_classes(series: ClassSeries, first: date, now: datetime, by: Actor) -> SeriesOutcome:
    coming = _coming_classes(series, first, now)
    wanted = set(dates_of(series, after=first - timedelta(days=1), through=series.made_through or first))
    changed = cancelled = 0
    for session in coming:
        if session.is_changed_alone or _is_joined(session):
            continue
        if session.series_date in wanted and _move(series, session, now):
            changed += 1
        else:
            _cancel_apart(session, now, by)
            cancelled += 1
    return SeriesOutcome(series, changed=changed, cancelled=cancelled, kept=len(coming) - changed - cancelled)


def _move(series: ClassSeries, session: ClassSession, now: datetime) -> bool:
    """Give a class the values of its series. Says no if its host is busy then, or if the time has passed."""
    times = times_of(series, session.series_date or series.first_date)
    if times.starts_at <= now:
        return False
    values = ClassChanges(
        starts_at=times.starts_at, ends_at=times.ends_at, staff=series.staff, capacity=series.capacity
    )
    try:
        with transaction.atomic():
            apply_changes(session, values, now)
    except Conflict:
        return False
    return True


def _cancel_apart(session: ClassSession, now: datetime, by: Actor) -> None:
    """Cancel a class and part it from its series, so that the series may make another one for the date."""
    ClassSession.objects.filter(pk=session.pk).update(series=None, series_date=None)
    cancel_class(session=session, now=now, by=by)


def _record(series: ClassSeries, what: str, by: Actor) -> None:
    record_activity(
        by=by,
        action=f"class_series.{what}",
        agency_id=series.workspace.agency_id,
        workspace_uuid=series.workspace.uuid,
        target=("class_series", series.uuid, series.service.name),
        details={"first_date": series.first_date.isoformat()},
    )
