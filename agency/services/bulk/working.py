"""How a bulk operation proceeds: first its items are made, then each is done in its own transaction.

An item's change and its result are committed together. After a crash the next run goes on with the first unfinished
item.
"""

import logging
from datetime import datetime
from typing import Final

from django.db import DataError, IntegrityError, transaction
from django.db.models import F

from agency.actors import Actor
from agency.models import BulkOperation, BulkOperationItem
from agency.models.bulk import LONGEST_ERROR
from agency.services.bulk.actions import BulkAction, BulkCall, bulk_action
from agency.services.bulk.operations import end_bulk_operation, selection_of
from agency.services.jobs.selections import BROKE_OFF, reason_to_stop
from config.errors import DomainError

logger = logging.getLogger(__name__)

# Items made in one transaction, and items done in one turn; other jobs have their turns in between.
CHUNK: Final = 1_000
BATCH: Final = 10
FAULT: Final = "Something went wrong on our side."
Item, ItemState, State = BulkOperationItem, BulkOperationItem.State, BulkOperation.State


def work_on(pk: int, *, now: datetime, chunk: int = CHUNK, batch: int = BATCH) -> bool:
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
        make_items(pk, size=chunk)
        return True
    return _do_batch(operation, now, batch)


def give_up_operation(pk: int, *, now: datetime) -> bool:
    """End an operation whose next item killed its process too often. Returns that no turn is left."""
    operation = BulkOperation.objects.select_related("agency", "created_by").get(pk=pk)
    end_bulk_operation(operation, State.STOPPED, now=now, because=BROKE_OFF)
    return False


@transaction.atomic
def make_items(pk: int, *, size: int = CHUNK) -> None:
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
        if not do_item(operation, action, item, now=now, by=by):
            return False
    if len(ids) < size:
        end_bulk_operation(operation, State.COMPLETED, now=now)
    return len(ids) == size


@transaction.atomic
def do_item(operation: BulkOperation, action: BulkAction, pk: int, *, now: datetime, by: Actor) -> bool:
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
