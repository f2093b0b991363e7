"""Schedules, cancels and completes group classes, and lists those that people may join."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services import NewEvent, record_activity, record_events, subscribed_events
from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members, share_lock_service
from workspaces.classes import events
from workspaces.classes.models import ClassSeries, ClassSession, ClassSessionQuerySet, WaitingListEntry
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event, tenant_of

Status = ClassSession.Status
YEARS = range(2000, 2200)
COMPLETED_AT_ONCE = 200
ClassChange = Literal["moved", "cancelled", "moved_up", "removed"]


class ClassNotFound(NotFound):
    message = "Class not found."


class NotAClassService(InvalidInput):
    field = "service"
    message = "The service field must name a service of the kind class."


class EndRequired(InvalidInput):
    field = "ends_at"
    message = "The ends at field is required, as the service has no duration."


class EndsBeforeItStarts(InvalidInput):
    field = "ends_at"
    message = "The ends at field must be later than the start."


class TimeOutOfRange(InvalidInput):
    """A class starts or ends in a year outside of `YEARS`."""

    def __init__(self, field: str) -> None:
        words = field.replace("_", " ")
        super().__init__(f"The {words} field must be in the years {YEARS[0]} to {YEARS[-1]}.", field=field)


@dataclass(frozen=True, slots=True)
class ClassScheduleHandler:
    """A higher app's functions that keep the time of a class's host free of other things.

    `occupy(session, now)` takes the time at which the class is now, and raises a conflict if something else has it.
    `free(session)` gives it back.
    """

    name: str
    occupy: Callable[[ClassSession, datetime], None]
    free: Callable[[ClassSession], None]


class_schedule_handlers = Registry[ClassScheduleHandler](
    "handlers of scheduled classes",
    called=(
        "`schedule_class`, `change_class` and `change_series` call `occupy` of each for a class with a host, under the "
        "host's lock, and `free` for one without; `cancel_class` calls `free` of each"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


@dataclass(frozen=True, slots=True)
class ClassChangeHandler:
    """A higher app's function `apply(session, what, contact, now)` that tells people of what has changed.

    A class is `moved` to another time or `cancelled` for everybody in it and on its list; `contact` is None. A contact
    has `moved_up` from the list to a seat, or was `removed` from its seat. A contact that leaves or that is merged is
    no change.
    """

    name: str
    apply: Callable[[ClassSession, ClassChange, Contact | None, datetime], None]


class_change_handlers = Registry[ClassChangeHandler](
    "handlers of changed classes",
    called=(
        "`change_class`, `cancel_class`, `remove_participant` and each seat that goes to the waiting list call each, "
        "under the class's lock; a cancelled class still has its list then"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


def call_change_handlers(session: ClassSession, what: ClassChange, contact: Contact | None, now: datetime) -> None:
    for handler in class_change_handlers:
        handler.apply(session, what, contact, now)


class ClassIsCancelled(Conflict):
    message = "This class is cancelled."


class ClassIsCompleted(Conflict):
    message = "This class is completed."


class SeriesDate(NamedTuple):
    """The date for which a series makes a class."""

    series: ClassSeries
    date: date


ERRORS_BY_STATUS: dict[str, type[Conflict]] = {Status.CANCELLED: ClassIsCancelled, Status.COMPLETED: ClassIsCompleted}


def record_class_activity(*, session: ClassSession, what: str, by: Actor) -> None:
    """Add an entry such as `class.cancelled`, with the time at which the class starts."""
    record_activity(
        by=by,
        action=f"class.{what}",
        agency_id=session.workspace.agency_id,
        workspace_uuid=session.workspace.uuid,
        target=("class", session.uuid, session.service.name),
        details={"starts_at": session.starts_at.isoformat()},
    )


def record_contact_activity(session: ClassSession, contact: Contact, *, what: str, by: Actor) -> None:
    """Add an entry such as `class.seat_removed` about a contact, under the name of the class."""
    record_activity(
        by=by,
        action=f"class.{what}",
        agency_id=session.workspace.agency_id,
        workspace_uuid=session.workspace.uuid,
        target=("contact", contact.uuid, session.service.name),
        details={"class": str(session.uuid), "starts_at": session.starts_at.isoformat()},
    )


def lock_class(session: ClassSession) -> ClassSession:
    """Lock the row and read it anew. Takes workspace, service and an unchanged staff member from the given session."""
    locked = ClassSession.objects.select_for_update(no_key=True).get(pk=session.pk)
    locked.workspace, locked.service = session.workspace, session.service
    if locked.staff_id == session.staff_id:
        locked.staff = session.staff
    return locked


def require_scheduled(session: ClassSession) -> None:
    """Raise `ClassIsCancelled` or `ClassIsCompleted` for a class that is no longer scheduled."""
    refusal = ERRORS_BY_STATUS.get(session.status)
    if refusal:
        raise refusal


@transaction.atomic
def schedule_class(
    *,
    workspace: Workspace,
    service: Service,
    starts_at: datetime,
    capacity: int,
    now: datetime,
    by: Actor,
    ends_at: datetime | None = None,
    staff: Staff | None = None,
    made_for: SeriesDate | None = None,
) -> ClassSession:
    """Schedule a class. Without `ends_at` it ends after the service's duration.

    A class in the past is completed by the task's next run. A series' classes are not in the activity log, because the
    series is. Raises `EndRequired`, `EndsBeforeItStarts`, `NotAClassService`, `ServiceNotFound`, `StaffNotFound`,
    `TimeOutOfRange`, and a conflict if the host has no time.
    """
    share_lock_service(service)
    if staff is not None and not lock_staff_members([staff.pk]):
        raise StaffNotFound
    if service.kind != Service.Kind.CLASS:
        raise NotAClassService
    check_times(starts_at, ends_at)
    session = ClassSession.objects.create(
        workspace=workspace,
        service=service,
        staff=staff,
        starts_at=starts_at.astimezone(UTC),
        ends_at=(ends_at or _default_end(service, starts_at)).astimezone(UTC),
        capacity=capacity,
        series=made_for.series if made_for else None,
        series_date=made_for.date if made_for else None,
        created_at=now,
    )
    occupy_host(session, now)
    if made_for is None:
        record_class_activity(session=session, what="scheduled", by=by)
    record_workspace_event(workspace=workspace, name=events.CLASS_SCHEDULED, now=now, **{"class": session})
    return session


def occupy_host(session: ClassSession, now: datetime) -> None:
    """Occupy the host at the class's time, and nobody at another. The caller holds the host's lock.

    Raises a conflict if the host has no time.
    """
    for handler in class_schedule_handlers:
        if session.staff_id is None:
            handler.free(session)
        else:
            handler.occupy(session, now)


def check_times(starts_at: datetime, ends_at: datetime | None) -> None:
    """Raise `EndsBeforeItStarts` or `TimeOutOfRange` for times that no class can have."""
    if ends_at is not None and ends_at <= starts_at:
        raise EndsBeforeItStarts
    for field, moment in (("starts_at", starts_at), ("ends_at", ends_at)):
        if moment is not None and moment.year not in YEARS:
            raise TimeOutOfRange(field)


def _default_end(service: Service, starts_at: datetime) -> datetime:
    if service.duration_minutes is None:
        raise EndRequired
    return starts_at + timedelta(minutes=service.duration_minutes)


@transaction.atomic
def cancel_class(*, session: ClassSession, now: datetime, by: Actor) -> ClassSession:
    """Cancel a class. Its participants stay, and its waiting list is emptied.

    A cancelled class stays as it is, and its series makes no other class for that date. Raises `ClassIsCompleted`.
    """
    session = lock_class(session)
    if session.status == Status.CANCELLED:
        return session
    require_scheduled(session)
    session.status = Status.CANCELLED
    session.save(update_fields=["status"])
    for handler in class_schedule_handlers:
        handler.free(session)
    call_change_handlers(session, "cancelled", None, now)
    WaitingListEntry.objects.filter(session=session).delete()
    record_class_activity(session=session, what="cancelled", by=by)
    record_workspace_event(workspace=session.workspace, name=events.CLASS_CANCELLED, now=now, **{"class": session})
    return session


@transaction.atomic
def complete_ended_classes(*, now: datetime, batch: int = COMPLETED_AT_ONCE) -> int:
    """Complete classes whose end has passed. Gives their number. Locked classes wait for the next run."""
    due = ended_classes(now).select_for_update(skip_locked=True, no_key=True)
    locked = list(due.values_list("pk", flat=True)[:batch])
    if not locked:
        return 0
    ClassSession.objects.filter(pk__in=locked).update(status=Status.COMPLETED)
    WaitingListEntry.objects.filter(session__in=locked).delete()
    sessions = ClassSession.objects.filter(pk__in=locked).with_names().select_related("workspace").order_by("id")
    _record_completions(list(sessions), now)
    return len(locked)


def ended_classes(now: TimeOrExpression) -> "QuerySet[ClassSession]":
    """Give the scheduled classes whose end has passed, in the order of their end."""
    return ClassSession.objects.filter(status=Status.SCHEDULED, ends_at__lte=now).order_by("ends_at")


def _record_completions(sessions: list[ClassSession], now: datetime) -> None:
    wanted = subscribed_events({session.workspace_id for session in sessions})
    record_events(
        NewEvent(
            tenant=tenant_of(session.workspace), name=events.CLASS_COMPLETED, data={"class": session}, occurred_at=now
        )
        for session in sessions
        if events.CLASS_COMPLETED in wanted.get(session.workspace_id, ())
    )


def open_classes(*, workspace: Workspace, now: datetime) -> ClassSessionQuerySet:
    """Give the classes that have not begun, in their order, full ones included.

    `is_full` says that there is only the waiting list.
    """
    rows = ClassSession.objects.of(workspace).filter(status=Status.SCHEDULED, starts_at__gt=now)
    return rows.with_names().by_start()


def record_participant(name: str, session: ClassSession, contact: Contact, now: datetime) -> None:
    """Record an event about a contact who got or lost a seat."""
    data = {"class": session, "contact": contact}
    record_workspace_event(workspace=session.workspace, name=name, now=now, **data)
