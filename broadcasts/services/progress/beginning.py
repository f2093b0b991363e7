"""Begins scheduled broadcasts that are due: it fixes what sending needs, and sets them to `sending`."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet

from agency.actors import SYSTEM
from agency.models import Agency
from broadcasts import events
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from broadcasts.services.audience.people import audience_filter, last_contact_of
from broadcasts.services.events.recording import record_broadcast_change
from broadcasts.services.listing import joined
from broadcasts.services.moving import BROKE_OFF, pause_for_fault
from broadcasts.services.notifications import notify_of_pause
from broadcasts.services.preparation_tries import BEGINNING
from broadcasts.services.progress.freezing import freeze_message
from config.db import Moment
from config.errors import Invalid
from config.tries.counting import next_rows, run_alone
from workspaces.subaccounts.models import Channel, Workspace

BATCH: Final = 50
NO_SEGMENT: Final = "The segment that it goes to was removed. Cancel it, and make another one."
NOT_CONNECTED: Final = "The channel is not connected. Reconnect it, then resume."
Status = Broadcast.Status
Work = Callable[..., bool]


def begin_due_broadcasts(*, now: datetime, batch: int = BATCH) -> int:
    """Begin due broadcasts, each in its own transaction. Returns how many.

    A broadcast that waits for approval stays scheduled and begins afterwards. So does a broadcast of a suspended
    workspace or agency.
    """
    due = next_rows(due_broadcasts(now).only("pk"), kind=BEGINNING, most=batch)
    return sum(_run_counted(begin_broadcast, _give_up_beginning, one.pk, now) for one in due)


def _run_counted(work: Work, give_up: Work, broadcast: int, now: datetime) -> bool:
    return run_alone(
        partial(work, broadcast=broadcast, now=now),
        kind=BEGINNING,
        key=broadcast,
        give_up=partial(give_up, broadcast=broadcast, now=now),
        otherwise=False,
    )


def due_broadcasts(now: Moment) -> "QuerySet[Broadcast]":
    """Return the broadcasts that begin now, in their order."""
    scheduled = Broadcast.objects.filter(status=Status.SCHEDULED, due_at__lte=now)
    return scheduled.filter(
        Q(requires_approval=False) | Q(approved_at__isnull=False),
        workspace__status=Workspace.Status.ACTIVE,
        workspace__agency__status=Agency.Status.ACTIVE,
    ).order_by("due_at", "id")


@transaction.atomic
def begin_broadcast(*, broadcast: int, now: datetime) -> bool:
    """Begin a broadcast, unless another process is at it or it is no longer due."""
    found = _locked(due_broadcasts(now), broadcast)
    if found is None:
        return False
    changes = _fixed(found)
    Broadcast.objects.filter(pk=found.pk, status=Status.SCHEDULED).update(
        started_at=now, updated_at=now, last_contact=last_contact_of(found), **changes
    )
    _record(found, [events.STARTED, *([events.PAUSED] if changes["paused_reason"] else [])], now=now)
    return True


@transaction.atomic
def _give_up_beginning(*, broadcast: int, now: datetime) -> bool:
    """Pause a broadcast whose beginning killed its process each time. Resuming begins it again."""
    found = _locked(due_broadcasts(now), broadcast)
    if found is None:
        return False
    frozen = FrozenMessage().as_json() | {"filter": {}, "is_refused": True}
    Broadcast.objects.filter(pk=found.pk, status=Status.SCHEDULED).update(
        status=Status.SENDING, started_at=now, last_contact=last_contact_of(found), frozen=frozen
    )
    _record(found, [events.STARTED], now=now)
    pause_for_fault([broadcast], BROKE_OFF, now)
    return True


def _pause_again(*, broadcast: int, now: datetime) -> bool:
    return bool(pause_for_fault([broadcast], BROKE_OFF, now))


def begin_refused_broadcasts(*, now: datetime, batch: int = BATCH) -> int:
    """Begin again the broadcasts that could not be sent when they began, and that a user has resumed since."""
    refused = next_rows(refused_broadcasts().only("pk"), kind=BEGINNING, most=batch)
    return sum(_run_counted(begin_again, _pause_again, one.pk, now) for one in refused)


@transaction.atomic
def begin_again(*, broadcast: int, now: datetime) -> bool:
    """Fix what could not be fixed before, or pause the broadcast once more."""
    found = _locked(refused_broadcasts(), broadcast)
    if found is None:
        return False
    changes = _fixed(found)
    Broadcast.objects.filter(pk=found.pk, status=Status.SENDING).update(updated_at=now, **changes)
    _record(found, [events.PAUSED] if changes["paused_reason"] else [], now=now)
    return True


def refused_broadcasts() -> "QuerySet[Broadcast]":
    """Return the broadcasts that were resumed after their message was refused, in their order."""
    resumed = Broadcast.objects.filter(status=Status.SENDING, is_prepared=False, frozen__is_refused=True)
    return resumed.order_by("id")


def _locked(rows: "QuerySet[Broadcast]", broadcast: int) -> Broadcast | None:
    locked = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    return locked.select_related("channel", "workspace__agency", "segment").filter(pk=broadcast).first()


def _fixed(broadcast: Broadcast) -> dict[str, Any]:
    """Return the fields that the beginning fixes, with a status and a reason if the broadcast pauses at once.

    A message that cannot be sent now (`is_refused`) is fixed when the broadcast is resumed.
    """
    people = audience_filter(broadcast)
    message, refusal = FrozenMessage(), None if people is not None else NO_SEGMENT
    try:
        message = freeze_message(broadcast)
    except Invalid as refused:
        refusal = refusal or refused.message
    reason = refusal
    if broadcast.channel.status != Channel.Status.ACTIVE:
        reason = NOT_CONNECTED
    return {
        "frozen": message.as_json() | {"filter": people or {}, "is_refused": refusal is not None},
        "status": Status.PAUSED if reason else Status.SENDING,
        "paused_reason": reason,
    }


def _record(broadcast: Broadcast, names: Sequence[str], *, now: datetime) -> None:
    """Record these events, and notify people of a pause, because no user watches the beginning on a screen."""
    found = joined(Broadcast.objects.filter(pk=broadcast.pk)).get()
    details = {"reason": found.paused_reason} if found.paused_reason else None
    for name in names:
        record_broadcast_change(found, name, by=SYSTEM, now=now, details=details if name == events.PAUSED else None)
    if events.PAUSED in names:
        notify_of_pause(found, now=now)
