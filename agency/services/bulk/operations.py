"""Bulk operations themselves: begin, cancel and end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from agency.actors import Actor
from agency.models import BulkOperation
from agency.models.jobs import ACTIVE, Job
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency
from agency.services.bulk.actions import BulkAction, bulk_action
from agency.services.jobs.selections import Selection, TooManyJobs
from agency.services.notifications.agencies_own import notify_of_ended_job
from config.errors import Conflict, NotFound

MOST_ACTIVE: Final = 5
State = BulkOperation.State


class BulkOperationNotFound(NotFound):
    message = "Job not found."


class NothingChosen(Conflict):
    message = "Nothing is chosen."


class TooMuchChosen(Conflict):
    """More objects are chosen than one operation takes."""


@transaction.atomic
def start_bulk_operation(
    *, action: BulkAction, selection: Selection, parameters: Mapping[str, Any], now: datetime, by: Actor
) -> BulkOperation:
    """Begin an action on the chosen objects. Raises `NothingChosen`, `TooMuchChosen`, `TooManyJobs`."""
    agency = selection.agency
    lock_agency(agency.pk)
    if BulkOperation.objects.filter(agency=agency, state__in=ACTIVE).count() >= MOST_ACTIVE:
        raise TooManyJobs(f"{MOST_ACTIVE} bulk operations are under way. Begin this one when one of them has ended.")
    number = chosen(action, selection)
    made = BulkOperation.objects.create(
        agency=agency,
        kind=action.name,
        query=selection.query,
        picked=None if selection.picked is None else list(selection.picked),
        parameters=dict(parameters),
        created_at=selection.until,
        **Job.asked_by(by),
    )
    _record(made, "bulk_operation.started", by, {"action": str(action.label), "number": number})
    return made


def chosen(action: BulkAction, selection: Selection) -> int:
    """Count the chosen objects. Raises `NothingChosen` and `TooMuchChosen`."""
    number = action.targets.count(selection)
    if not number:
        raise NothingChosen
    if number > action.targets.most:
        raise TooMuchChosen(f"{number:,} match, and {action.targets.most:,} can be changed at once. Use more filters.")
    return number


@transaction.atomic
def cancel_bulk_operation(*, operation: BulkOperation, now: datetime, by: Actor) -> bool:
    """Cancel an operation; finished items stay as they are. Returns whether there was anything to cancel."""
    active = BulkOperation.objects.filter(pk=operation.pk, state__in=ACTIVE)
    if not active.update(state=State.CANCELLED, ended_at=now):
        return False
    operation.refresh_from_db()
    _record(operation, "bulk_operation.cancelled", by, {"done": operation.done, "left": operation.left})
    return True


@transaction.atomic
def end_bulk_operation(
    operation: BulkOperation, state: BulkOperation.State, *, now: datetime, because: str = ""
) -> None:
    """Record that an operation has ended, unless it has already, and notify its maker."""
    active = BulkOperation.objects.filter(pk=operation.pk, state__in=ACTIVE)
    if active.update(state=state, ended_at=now, stopped_because=because):
        operation.state = state
        notify_of_ended_job(operation, now=now)


def selection_of(operation: BulkOperation) -> Selection:
    """Return what an operation applies to."""
    return Selection(
        agency=operation.agency, query=operation.query, until=operation.created_at, picked=operation.picked
    )


def _record(operation: BulkOperation, action: str, by: Actor, details: dict[str, Any]) -> None:
    label = str(bulk_action(operation.kind).label)
    target = ("bulk_operation", operation.uuid, label)
    record_activity(by=by, action=action, agency_id=operation.agency_id, target=target, details=details)
