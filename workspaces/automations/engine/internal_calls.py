"""Does what runs ask of the product's own appointments and invoices, each call in a transaction of its own.

A booking locks staff members. A batch of the engine must not: two batches could then wait for each other. So a batch
only stores its calls as rows. Each row is then worked on alone, after the batch's commit. Its transaction makes the
change, records the result as a fact of the run, and deletes the row. So the change and its result come once, wherever a
process dies.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

import orjson
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from agency.actors import Actor
from config.db import database_now
from config.errors import DomainError
from config.postgresql.concurrency import retry_on_conflict
from config.tries.counting import run_counted
from workspaces.automations.engine.planning import PlannedInternalCall
from workspaces.automations.execution.internal_calls import (
    INTERNAL_CALLS,
    BookTime,
    ChangeAppointment,
    FindAppointments,
    FindTimes,
    RequestPayment,
)
from workspaces.automations.models import AutomationRun, InternalCall
from workspaces.automations.services.appointment_calls import (
    CallRefused,
    book_time,
    change_appointment,
    find_appointments,
    find_times,
)
from workspaces.automations.services.outside_calls import CALL_ENDED
from workspaces.automations.services.payment_calls import request_payment
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.contacts.models import Contact

logger = logging.getLogger(__name__)

KIND: Final = "automation-calls"
# So many calls are taken up at once of those that a dead process has left behind.
MOST_LEFT: Final = 20
LEFT_AFTER: Final = timedelta(seconds=5)
REFUSED: Final = "not_possible"
GAVE_UP: Final = "internal_error"
NAMES: Final[Mapping[type, str]] = {call: name for name, call in INTERNAL_CALLS.items()}
MAKERS: Final[Mapping[type, Callable[[Any, Contact, Any, Actor], dict[str, object]]]] = {
    FindTimes: find_times,
    BookTime: book_time,
    FindAppointments: find_appointments,
    ChangeAppointment: change_appointment,
    RequestPayment: request_payment,
}


def store_calls(planned: Sequence[PlannedInternalCall], label_of: Callable[[int], str]) -> list[int]:
    """Store the calls of a batch, in its transaction. Return their keys."""
    rows = [
        InternalCall(
            run_id=one.run.pk or 0,
            run_uuid=one.run.uuid,
            seq=one.seq,
            workspace_id=one.work.workspace.pk,
            contact_id=one.run.contact_id,
            channel_id=one.run.channel_id,
            conversation_id=one.run.conversation_id,
            depth=one.run.depth,
            label=label_of(one.run.version_id),
            kind=NAMES[type(one.call)],
            request=orjson.loads(orjson.dumps(one.call)),
        )
        for one in planned
    ]
    return [row.pk for row in InternalCall.objects.bulk_create(rows)] if rows else []


def make_calls(keys: Sequence[int]) -> int:
    """Make the calls that a batch has stored. One that breaks off stays for `make_left_calls`."""
    done = 0
    for key in keys:
        try:
            done += retry_on_conflict(partial(_make, key))
        except Exception:  # a service may raise anything; it concerns this call only
            if not connection.is_usable():
                raise
            logger.exception("a call of an automation failed")
    return done


def left_calls() -> QuerySet[InternalCall]:
    """Return calls that were not made at once, because a process died or a call broke off."""
    return InternalCall.objects.filter(created_at__lte=Now() - LEFT_AFTER).order_by("pk")


def make_left_calls() -> int:
    """Make calls that were left behind, with counted tries. After five that died or broke off a call is given up.

    Return how many were made.
    """
    done = 0
    for key in InternalCall.objects.order_by("pk").values_list("pk", flat=True)[:MOST_LEFT]:
        try:
            done += run_counted(
                partial(retry_on_conflict, partial(_make, key)),
                kind=KIND,
                key=key,
                give_up=partial(_make, key, is_given_up=True),
                counts_faults=True,
            )
        except Exception:  # as above
            if not connection.is_usable():
                raise
            logger.exception("a call of an automation failed")
    return done


@transaction.atomic(durable=True)
def _make(key: int, *, is_given_up: bool = False) -> int:
    """Make one call, record its result, and delete its row. Return 0 if another process is at it or was."""
    found = InternalCall.objects.select_for_update(skip_locked=True).filter(pk=key).first()
    if found is None:
        return 0
    call = found
    contact = _locked_contact(call)
    if contact is not None and _is_awaited(call):
        code, result = (GAVE_UP, {}) if is_given_up else _result(call, contact)
        record_trigger_events([_event(call, code, result)])
    call.delete()
    return 1


def _locked_contact(call: InternalCall) -> Contact | None:
    """Lock the contact, so that no engine works on its runs meanwhile."""
    rows = Contact.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    return rows.filter(pk=call.contact_id).first()


def _is_awaited(call: InternalCall) -> bool:
    """Say whether the run still waits for this very call. If not, it must have no effect any more."""
    runs = AutomationRun.objects.active().filter(pk=call.run_id, wait_kind=AutomationRun.WaitKind.CALL)
    return runs.filter(seq=call.seq).exists()


def _result(call: InternalCall, contact: Contact) -> tuple[str, dict[str, object]]:
    asked = INTERNAL_CALLS[call.kind](**call.request)
    by = Actor(kind="automation", id="", label=call.label)
    try:
        with transaction.atomic():
            return "", MAKERS[type(asked)](asked, contact, database_now(), by)
    except CallRefused as error:
        return error.code, {}
    except DomainError:
        return REFUSED, {}


def _event(call: InternalCall, code: str, result: dict[str, object]) -> NewTriggerEvent:
    return NewTriggerEvent(
        workspace_id=call.workspace_id,
        contact_id=call.contact_id,
        kind=CALL_ENDED,
        source_key=f"call:{call.run_id}:{call.seq}",
        channel_id=call.channel_id,
        conversation_id=call.conversation_id,
        data={"run": call.run_id, "seq": call.seq, "ok": not code, "result": result, "code": code},
        depth=call.depth,
        cause=call.run_id,
    )
