"""Scheduling, cancelling and completing group classes."""

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.services import NewEvent, record_events, subscribed_events
from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput, NotFound
from workspaces.catalogue.models import Service
from workspaces.catalogue.services import hold_service
from workspaces.classes import events
from workspaces.classes.models import ClassSession, Staff
from workspaces.classes.services.recording import record_class_activity
from workspaces.classes.services.staff import hold_staff
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event, tenant_of

Status = ClassSession.Status
YEARS = range(2000, 2200)
BATCH = 200


class ClassNotFound(NotFound):
    message = "Class not found."


class NotAClassService(InvalidInput):
    field = "service"
    message = "The service field must name a service of the kind class."


class EndNeeded(InvalidInput):
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


class ClassIsCancelled(Conflict):
    message = "This class is cancelled."


class ClassIsCompleted(Conflict):
    message = "This class is completed."


REFUSALS: dict[str, type[Conflict]] = {Status.CANCELLED: ClassIsCancelled, Status.COMPLETED: ClassIsCompleted}


def lock_class(session: ClassSession) -> ClassSession:
    """Lock the row and read it anew. Takes workspace, service and staff from the given session."""
    locked = ClassSession.objects.select_for_update(no_key=True).get(pk=session.pk)
    locked.workspace, locked.service, locked.staff = session.workspace, session.service, session.staff
    return locked


def require_scheduled(session: ClassSession) -> None:
    """Raise `ClassIsCancelled` or `ClassIsCompleted` for a class that is no longer scheduled."""
    refusal = REFUSALS.get(session.status)
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

    A class in the past is completed by the task's next run. Raises `EndNeeded`, `EndsBeforeItStarts`,
    `NotAClassService`, `ServiceNotFound`, `StaffNotFound`, `TimeOutOfRange`.
    """
    hold_service(service)
    hold_staff(staff)
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
        ends_at=(ends_at or _usual_end(service, starts_at)).astimezone(UTC),
        capacity=capacity,
        created_at=now,
    )
    record_class_activity(session=session, what="scheduled", by=by)
    record_workspace_event(workspace=workspace, name=events.CLASS_SCHEDULED, now=now, **{"class": session})
    return session


def _usual_end(service: Service, starts_at: datetime) -> datetime:
    if service.duration_minutes is None:
        raise EndNeeded
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
    record_class_activity(session=session, what="cancelled", by=by)
    record_workspace_event(workspace=session.workspace, name=events.CLASS_CANCELLED, now=now, **{"class": session})
    return session


@transaction.atomic
def complete_ended_classes(*, now: datetime, batch: int = BATCH) -> int:
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
