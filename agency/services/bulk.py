"""Bulk operations: begun in the console, done one object at a time with the services that the API calls.

First an operation's items are made, then each is done in its own transaction. An item's change and its result are
committed together. After a crash the next run goes on with the first unfinished item.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import F
from django.forms import BaseForm
from django.utils.functional import Promise
from django.utils.translation import gettext_noop

from agency.actors import SYSTEM, Actor
from agency.models import Agency, BulkOperation, BulkOperationItem, Member
from agency.models.jobs import ACTIVE, LONGEST_ERROR, Job
from agency.services.activity import record_activity
from agency.services.agencies import lock_agency
from agency.services.notifications.agency_kinds import notify_of_ended_job
from config.errors import Conflict, DomainError, NotFound
from config.hooks import Registry

ROLE_LOST = gettext_noop("The person who started it may no longer do this.")
AGENCY_SUSPENDED = gettext_noop("The agency is suspended.")
BROKE_OFF = gettext_noop("It stopped five times at the same place. Support can restart it.")


class TooManyJobs(Conflict):
    """An agency may have only so many jobs at once, or in a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some objects of an agency's list: those that were picked, else all that match its filters.

    `query` holds the filters as in the list's address. Objects newer than `until` are left out.
    """

    agency: Agency
    query: str
    until: datetime
    picked: Collection[UUID] | None = None


@dataclass(frozen=True, slots=True)
class IdBatch:
    """Some objects of a list, by their rows' ids; `cursor` is where the next objects begin, None at the end."""

    ids: Sequence[int]
    cursor: object


def reason_to_stop(job: Job) -> str:
    """Return why a job may not go on, empty if it may: its maker has lost the role, or the agency is suspended."""
    if not job.agency.is_active:
        return AGENCY_SUSPENDED
    member = Member.objects.filter(agency=job.agency_id, user=job.created_by_id, user__is_active=True).first()
    return "" if member and member.may_change_things else ROLE_LOST


Text = str | Promise


@dataclass(frozen=True, slots=True)
class TargetLabel:
    """The label of an object in a list, and the address of its page."""

    label: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTargets:
    """A list whose objects can be changed together; `url_name` is its page, `most` the limit for one operation.

    `walk` returns the ids of the next objects after a cursor; `shown` returns label and page of objects by their ids.
    """

    name: str
    label: Text
    url_name: str
    most: int
    count: Callable[[Selection], int]
    walk: Callable[[Selection, Any, int], IdBatch]
    shown: Callable[[Agency, Collection[int]], Mapping[int, TargetLabel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """One action. `apply` does it to one object, in the caller's transaction, and returns whether anything changed.

    It calls the service that the API calls. `make_form` makes the form for the action's parameters, which
    `parameters_of` reads from the valid form. `text` says what will happen.
    """

    name: str
    targets: BulkTargets
    label: Text
    text: Text
    apply: "Callable[[BulkCall], bool]"
    make_form: Callable[[Agency, Mapping[str, object] | None], BaseForm]
    parameters_of: Callable[[Any], Mapping[str, object]] = lambda _: {}
    is_dangerous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCall:
    """The call of an action for one object."""

    agency: Agency
    target_id: int
    parameters: Mapping[str, Any]
    now: datetime
    by: Actor


class ActionNotFound(NotFound):
    message = "Action not found."


bulk_actions = Registry[BulkAction](
    "actions on many things",
    called=(
        "`create_items` calls `targets.walk`, then `execute_item` calls `apply` for each object; the console's pages "
        "call the rest"
    ),
    transaction="its own, one for each object or each piece of the list",
    failure=(
        "an error of the domain or of the data fails the object; another is logged, and the job is tried again later; "
        "after five tries it has failed"
    ),
)


def actions_on(targets: str) -> list[BulkAction]:
    """Return the actions on the objects of a list, in the order of the declarations."""
    return [action for action in bulk_actions if action.targets.name == targets]


def bulk_action(name: str) -> BulkAction:
    """Return an action. Raises `ActionNotFound`."""
    found = bulk_actions.get(name)
    if found is None:
        raise ActionNotFound
    return found


MOST_ACTIVE: Final = 5
State = BulkOperation.State


class BulkOperationNotFound(NotFound):
    message = "Job not found."


class NothingSelected(Conflict):
    message = "Nothing is selected."


class TooManySelected(Conflict):
    """More objects are chosen than one operation takes."""


@transaction.atomic
def start_bulk_operation(
    *, action: BulkAction, selection: Selection, parameters: Mapping[str, object], now: datetime, by: Actor
) -> BulkOperation:
    """Begin an action on the chosen objects. Raises `NothingSelected`, `TooManySelected`, `TooManyJobs`."""
    agency = selection.agency
    lock_agency(agency.pk)
    if BulkOperation.objects.filter(agency=agency, state__in=ACTIVE).count() >= MOST_ACTIVE:
        raise TooManyJobs(f"{MOST_ACTIVE} bulk changes are running. Start this one when one of them has ended.")
    number = count_selected(action, selection)
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


def count_selected(action: BulkAction, selection: Selection) -> int:
    """Count the chosen objects. Raises `NothingSelected` and `TooManySelected`."""
    number = action.targets.count(selection)
    if not number:
        raise NothingSelected
    if number > action.targets.most:
        raise TooManySelected(
            f"{number:,} are selected, but you can change at most {action.targets.most:,} at once. Use more filters."
        )
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
) -> bool:
    """Record that an operation has ended and notify its maker. Returns False if it had ended already."""
    active = BulkOperation.objects.filter(pk=operation.pk, state__in=ACTIVE)
    has_ended_now = bool(active.update(state=state, ended_at=now, stopped_because=because))
    if has_ended_now:
        operation.state = state
        notify_of_ended_job(operation, now=now)
    return has_ended_now


def selection_of(operation: BulkOperation) -> Selection:
    """Return what an operation applies to."""
    return Selection(
        agency=operation.agency, query=operation.query, until=operation.created_at, picked=operation.picked
    )


def _record(operation: BulkOperation, action: str, by: Actor, details: Mapping[str, object]) -> None:
    action_of = bulk_actions.get(operation.kind)
    label = str(action_of.label) if action_of else operation.kind
    target = ("bulk_operation", operation.uuid, label)
    record_activity(by=by, action=action, agency_id=operation.agency_id, target=target, details=details)


logger = logging.getLogger(__name__)

# Items made in one transaction, and items done in one turn; other jobs have their turns in between.
CHUNK: Final = 1_000
BATCH: Final = 10
FAULT: Final = "Something went wrong on our side."
Item, ItemState, State = BulkOperationItem, BulkOperationItem.State, BulkOperation.State


def run_batch(pk: int, *, now: datetime, chunk: int = CHUNK, batch: int = BATCH) -> bool:
    """Do the next part of an operation; return whether more is left.

    Each turn checks anew whether its maker may do this.
    """
    operation = BulkOperation.objects.select_related("agency", "created_by").get(pk=pk)
    if not operation.is_active:
        return False
    reason = reason_to_stop(operation)
    if reason:
        end_bulk_operation(operation, State.STOPPED, now=now, because=reason)
        return False
    if operation.state == State.WAITING:
        create_items(pk, size=chunk)
        return True
    return _do_batch(operation, now, batch)


@transaction.atomic
def give_up_operation(pk: int, *, now: datetime) -> bool:
    """End an operation whose next piece died or failed too often. Returns that no turn is left."""
    operation = BulkOperation.objects.select_related("agency", "created_by").get(pk=pk)
    if end_bulk_operation(operation, State.FAILED, now=now, because=BROKE_OFF):
        _record(operation, "bulk_operation.failed", SYSTEM, {"done": operation.done, "left": operation.left})
    return False


def restart_operation(operation: BulkOperation, *, by: Actor) -> None:
    """Let a failed operation go on where it ended, inside the caller's transaction, which holds the row's lock."""
    action = bulk_actions.get(operation.kind)
    is_full = action is not None and operation.total >= action.targets.most
    is_gathered = is_full or (operation.total > 0 and operation.cursor is None)
    operation.state = State.RUNNING if is_gathered else State.WAITING
    operation.ended_at, operation.stopped_because = None, ""
    operation.save(update_fields=["state", "ended_at", "stopped_because"])
    _record(operation, "bulk_operation.restarted", by, {"done": operation.done, "left": operation.left})


@transaction.atomic
def create_items(pk: int, *, size: int = CHUNK) -> None:
    """Make the next items of the selection; after the last of them the operation is running."""
    rows = BulkOperation.objects.select_for_update(of=("self",)).select_related("agency")
    operation = rows.get(pk=pk)
    if operation.state != State.WAITING:
        return
    targets = bulk_action(operation.kind).targets
    room = targets.most - operation.total
    walk = targets.walk(selection_of(operation), operation.cursor, min(size, room))
    Item.objects.bulk_create([Item(operation=operation, target_id=target) for target in walk.ids])
    operation.total += len(walk.ids)
    operation.cursor = walk.cursor
    if walk.cursor is None or operation.total >= targets.most:
        operation.state = State.RUNNING
    operation.save(update_fields=["total", "cursor", "state"])


def _do_batch(operation: BulkOperation, now: datetime, size: int) -> bool:
    action, by = bulk_action(operation.kind), operation.actor
    pending = operation.items.filter(state=ItemState.PENDING).order_by("id")
    ids = list(pending.values_list("pk", flat=True)[:size])
    for item in ids:
        if not execute_item(operation, action, item, now=now, by=by):
            return False
    if len(ids) < size:
        end_bulk_operation(operation, State.COMPLETED, now=now)
    return len(ids) == size


@transaction.atomic
def execute_item(operation: BulkOperation, action: BulkAction, pk: int, *, now: datetime, by: Actor) -> bool:
    """Do one item and count it; if the operation has ended meanwhile, do nothing and return False."""
    item = Item.objects.select_for_update(skip_locked=True).filter(pk=pk, state=ItemState.PENDING).first()
    if item is None:
        return True
    call = BulkCall(agency=operation.agency, target_id=item.target_id, parameters=operation.parameters, now=now, by=by)
    item.state, item.error = _outcome(action, call)
    item.done_at = now
    item.save(update_fields=["state", "error", "done_at"])
    running = BulkOperation.objects.filter(pk=operation.pk, state=State.RUNNING)
    is_counted = bool(running.update(**{item.state: F(item.state) + 1}))
    if not is_counted:
        transaction.set_rollback(True)
    return is_counted


def _outcome(action: BulkAction, call: BulkCall) -> tuple[str, str]:
    """Call the service; a refusal becomes the item's error, in the words of the API's answer."""
    try:
        with transaction.atomic():
            return (ItemState.SUCCEEDED if action.apply(call) else ItemState.UNCHANGED), ""
    except DomainError as error:
        return ItemState.FAILED, error.message[:LONGEST_ERROR]
    except (IntegrityError, DataError) as error:
        logger.exception("an item of a bulk operation failed", extra={"fault": type(error).__name__})
        return ItemState.FAILED, FAULT
