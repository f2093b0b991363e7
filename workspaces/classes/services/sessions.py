"""Schedules, cancels and completes group classes, with participants up to the number of seats."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils.timezone import now

from agency.actors import Actor
from agency.services import NewEvent, record_activity, record_events, subscribed_events
from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import StaffNotFound, lock_staff_members, share_lock_service
from workspaces.classes import events
from workspaces.classes.models import ClassSession, Participant
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactMergeHandler, ContactNotFound, ContactRemovalHandler
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event, tenant_of

Status = ClassSession.Status
YEARS = range(2000, 2200)
COMPLETED_AT_ONCE = 200


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
        "`schedule_class` calls `occupy` of each for a class with a host, under the host's lock; `cancel_class` calls "
        "`free` of each"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


class ClassIsCancelled(Conflict):
    message = "This class is cancelled."


class ClassIsCompleted(Conflict):
    message = "This class is completed."


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


def lock_class(session: ClassSession) -> ClassSession:
    """Lock the row and read it anew. Takes workspace, service and staff from the given session."""
    locked = ClassSession.objects.select_for_update(no_key=True).get(pk=session.pk)
    locked.workspace, locked.service, locked.staff = session.workspace, session.service, session.staff
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
) -> ClassSession:
    """Schedule a class. Without `ends_at` it ends after the service's duration.

    A class in the past is completed by the task's next run. Raises `EndRequired`, `EndsBeforeItStarts`,
    `NotAClassService`, `ServiceNotFound`, `StaffNotFound`, `TimeOutOfRange`, and a conflict if the host has no time.
    """
    share_lock_service(service)
    if staff is not None and not lock_staff_members([staff.pk]):
        raise StaffNotFound
    if service.kind != Service.Kind.CLASS:
        raise NotAClassService
    if ends_at is not None and ends_at <= starts_at:
        raise EndsBeforeItStarts
    for field, moment in (("starts_at", starts_at), ("ends_at", ends_at)):
        if moment is not None and moment.year not in YEARS:
            raise TimeOutOfRange(field)
    session = ClassSession.objects.create(
        workspace=workspace,
        service=service,
        staff=staff,
        starts_at=starts_at.astimezone(UTC),
        ends_at=(ends_at or _default_end(service, starts_at)).astimezone(UTC),
        capacity=capacity,
        created_at=now,
    )
    if staff is not None:
        for handler in class_schedule_handlers:
            handler.occupy(session, now)
    record_class_activity(session=session, what="scheduled", by=by)
    record_workspace_event(workspace=workspace, name=events.CLASS_SCHEDULED, now=now, **{"class": session})
    return session


def _default_end(service: Service, starts_at: datetime) -> datetime:
    if service.duration_minutes is None:
        raise EndRequired
    return starts_at + timedelta(minutes=service.duration_minutes)


@transaction.atomic
def cancel_class(*, session: ClassSession, now: datetime, by: Actor) -> ClassSession:
    """Cancel a class. Its participants stay. A cancelled class stays as it is. Raises `ClassIsCompleted`."""
    session = lock_class(session)
    if session.status == Status.CANCELLED:
        return session
    require_scheduled(session)
    session.status = Status.CANCELLED
    session.save(update_fields=["status"])
    for handler in class_schedule_handlers:
        handler.free(session)
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


SHARE_LOCK_CONTACT = "SELECT 1 FROM contacts_contact WHERE id = %s FOR SHARE"


class ParticipantNotFound(NotFound):
    message = "Participant not found."


class ClassIsFull(Conflict):
    message = "This class is full."


@transaction.atomic
def add_participant(*, session: ClassSession, contact: Contact, now: datetime) -> tuple[Participant, bool]:
    """Give a contact a seat. Says whether the seat is new; a contact with a seat keeps it.

    Contacts are locked before classes, as in the removal of a contact. Raises `ClassIsCancelled`,
    `ClassIsCompleted`, `ClassIsFull`, `ContactNotFound`.
    """
    _share_lock_contact(contact)
    _refuse_if_full(session, contact)
    session = lock_class(session)
    seated = session.participants.filter(contact=contact).first()
    if seated:
        seated.contact = contact
        return seated, False
    require_scheduled(session)
    if session.is_full:
        raise ClassIsFull
    participant = Participant.objects.create(session=session, contact=contact, created_at=now)
    session.participants_count += 1  # a trigger has counted in the database
    record_participant(events.PARTICIPANT_ADDED, session, contact, now)
    if session.is_full:
        record_workspace_event(workspace=session.workspace, name=events.CLASS_FULL, now=now, **{"class": session})
    return participant, True


@transaction.atomic
def remove_participant(*, session: ClassSession, contact: Contact | None, now: datetime) -> ClassSession:
    """Free the seat of a contact. Raises `ClassIsCancelled`, `ClassIsCompleted`, `ParticipantNotFound`."""
    session = lock_class(session)
    seated = session.participants.filter(contact=contact).first() if contact else None
    if contact is None or seated is None:
        raise ParticipantNotFound
    require_scheduled(session)
    seated.delete()
    session.participants_count -= 1
    record_participant(events.PARTICIPANT_REMOVED, session, contact, now)
    return session


def record_participant(name: str, session: ClassSession, contact: Contact, now: datetime) -> None:
    """Record an event about a contact who got or lost a seat."""
    data = {"class": session, "contact": contact}
    record_workspace_event(workspace=session.workspace, name=name, now=now, **data)


def _refuse_if_full(session: ClassSession, contact: Contact) -> None:
    """Raise `ClassIsFull` without the class's lock, for which all requests for a popular class would queue."""
    full = ClassSession.objects.filter(pk=session.pk, status=Status.SCHEDULED, participants_count__gte=F("capacity"))
    if full.exclude(participants__contact=contact).exists():
        raise ClassIsFull


def _share_lock_contact(contact: Contact) -> None:
    """Lock a contact against removal until the transaction ends. Raises `ContactNotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_CONTACT, [contact.pk])
        if cursor.fetchone() is None:
            raise ContactNotFound


def free_seats(contact: int) -> None:
    """Free every seat of a contact that is being removed. The caller holds the contact's lock."""
    _delete_seats(_seats(contact))


def move_seats(kept: int, gone: int) -> None:
    """Move the seats of a merged contact to the kept one. In a class where both have a seat, one seat is freed."""
    seats = _seats(gone)
    taken = set(Participant.objects.filter(contact=kept).values_list("session", flat=True))
    moving = [seat.pk for seat in seats if seat.session_id not in taken]
    Participant.objects.filter(pk__in=moving).update(contact=kept)
    _delete_seats([seat for seat in seats if seat.session_id in taken])


def _seats(contact: int) -> list[Participant]:
    """Lock the classes in which a contact takes part, always in the same order. Gives the contact's seats."""
    of_contact = ClassSession.objects.filter(participants__contact=contact).values("pk")
    locked = ClassSession.objects.filter(pk__in=of_contact).order_by("pk").select_for_update(no_key=True)
    sessions = [row.pk for row in locked]
    rows = Participant.objects.filter(contact=contact, session__in=sessions).order_by("session")
    return list(rows.select_related("session__service", "session__staff", "session__workspace", "contact"))


def _delete_seats(seats: list[Participant]) -> None:
    moment = now()
    for seat in seats:
        session = seat.session
        seat.delete()
        session.participants_count -= 1  # a trigger has counted in the database
        if session.status == Status.SCHEDULED:
            record_participant(events.PARTICIPANT_REMOVED, session, seat.contact, moment)


REMOVAL_HANDLER = ContactRemovalHandler("classes", free_seats)
MERGE_HANDLER = ContactMergeHandler("classes", move_seats)
