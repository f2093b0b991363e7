"""Moves a broadcast from state to state, each with one conditional update, and cancels or completes it in batches.

A move that is not allowed answers 409.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils.translation import gettext_noop

from agency.actors import SYSTEM, Actor
from broadcasts import events
from broadcasts.models import Broadcast, BroadcastQuerySet, Recipient, Stage
from broadcasts.services.counts import add_counts, require_quota
from broadcasts.services.errors import BroadcastChanged, BroadcastNotFound, BroadcastRefused, MoveNotAllowed
from broadcasts.services.listing import joined
from broadcasts.services.message_fields import write_message
from broadcasts.services.notifications import notify_of_pause
from broadcasts.services.preparation_tries import forget_tries_of
from broadcasts.services.recipient_events import record_broadcast_change, record_recipient_events
from config.celery import wake_up
from config.postgresql.arrays import integers
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import lock_workspace

Status = Broadcast.Status
# The wake-up name of the workers that begin, prepare and complete broadcasts.
SWEEP: Final = "broadcasts"
LONGEST_REASON: Final = 500
BROKE_OFF: Final = gettext_noop(
    "The preparation of this broadcast stopped five times. Resume the broadcast to try again, or ask the operator of "
    "this service."
)
UNDER_WAY: Final = "This broadcast is under way already."
ENDED: Final = {
    Status.SENT: "This broadcast has been sent. Create another one.",
    Status.CANCELLED: "This broadcast was cancelled. Create another one.",
}
# The refusals of each move by status, with what to do instead.
REFUSALS: Final[dict[str, dict[str, str]]] = {
    events.SCHEDULED: {
        Status.SCHEDULED: "This broadcast has been scheduled already.",
        Status.SENDING: UNDER_WAY,
        Status.PAUSED: "This broadcast is under way already. Resume it.",
    },
    events.APPROVED: {Status.SENDING: UNDER_WAY, Status.PAUSED: UNDER_WAY},
    events.PAUSED: {
        Status.DRAFT: "This broadcast is a draft: nothing of it is being sent.",
        Status.SCHEDULED: "This broadcast has not begun. Cancel it to keep it from being sent.",
        Status.PAUSED: "This broadcast is paused already.",
    },
    events.RESUMED: {
        Status.DRAFT: "This broadcast is a draft. Schedule it.",
        Status.SCHEDULED: "This broadcast has not begun, and begins by itself.",
        Status.SENDING: "This broadcast is not paused.",
    },
    events.CANCELLED: {Status.DRAFT: "This broadcast is a draft. Delete it."},
}


@transaction.atomic
def schedule_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor, version: datetime | None = None) -> Broadcast:
    """Schedule a draft for its time, or for the next sweep if it has none.

    `version` is the `updated_at` that the user has seen and confirmed. Raises `BroadcastChanged` for another version,
    `MoveNotAllowed`, `LimitReached` past the plan's broadcasts of the month, and `BroadcastRefused` if the channel or
    the template can no longer send it.
    """
    workspace = lock_workspace(broadcast.workspace)
    draft = lock_broadcast(broadcast)
    if draft.status == Status.DRAFT:
        _check_version(draft, version)
        require_quota(workspace, now=now)
        check_it_can_be_sent(draft)
    return _move(
        draft,
        events.SCHEDULED,
        Q(status=Status.DRAFT),
        by=by,
        now=now,
        status=Status.SCHEDULED,
        due_at=draft.scheduled_at or now,
        counted_at=now,
    )


@transaction.atomic
def approve_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor, version: datetime | None = None) -> Broadcast:
    """Approve a broadcast that requires approval.

    `version` is the `updated_at` that the user has seen and confirmed. Raises `BroadcastChanged` for another version,
    and `MoveNotAllowed`, also for a broadcast that is approved already.
    """
    found = lock_broadcast(broadcast)
    if is_waiting_for_approval(found):
        _check_version(found, version)
    waiting = Q(status__in=(Status.DRAFT, Status.SCHEDULED), requires_approval=True, approved_at=None)
    return _move(broadcast, events.APPROVED, waiting, by=by, now=now, approved_at=now, approved_by=by.label)


@transaction.atomic
def pause_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor, reason: str | None = None) -> Broadcast:
    """Stop a broadcast's sending. Only messages that are being sent at this moment still leave."""
    return _move(
        broadcast,
        events.PAUSED,
        Q(status=Status.SENDING),
        by=by,
        now=now,
        status=Status.PAUSED,
        paused_reason=reason and reason[:LONGEST_REASON],
    )


@transaction.atomic
def give_up_broadcast(*, broadcast: int, now: datetime) -> None:
    """Pause a broadcast, with a reason for people, because its preparation killed its process several times."""
    pause_for_fault([broadcast], BROKE_OFF, now)
    paused = Broadcast.objects.filter(pk=broadcast, status=Status.PAUSED)
    if paused.exclude(paused_reason=BROKE_OFF).update(paused_reason=BROKE_OFF, updated_at=now):
        notify_of_pause(joined(paused).get(), now=now)  # it was paused already
    paused.update(broke_off_at=now)


@transaction.atomic
def pause_for_fault(broadcast_ids: Collection[int], reason: str, now: datetime) -> list[Broadcast]:
    """Pause those of these broadcasts that are being sent, with a reason for people. Returns those it has paused.

    The sender calls it in its transaction when a channel's access is lost or its provider stops it.
    """
    rows = Broadcast.objects.filter(pk__in=broadcast_ids, status=Status.SENDING).order_by("pk")
    locked = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    Broadcast.objects.filter(pk__in=locked).update(
        status=Status.PAUSED, paused_reason=reason[:LONGEST_REASON], updated_at=now
    )
    paused = list(joined(Broadcast.objects.filter(pk__in=locked)).order_by("pk"))
    for one in paused:
        record_broadcast_change(one, events.PAUSED, by=SYSTEM, now=now, details={"reason": one.paused_reason})
        notify_of_pause(one, now=now)
    return paused


@transaction.atomic
def resume_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor) -> Broadcast:
    """Resume a paused broadcast. Raises `MoveNotAllowed`, also while its channel is not connected."""
    found = _read(broadcast)
    if found.status == Status.PAUSED and found.channel.status != Channel.Status.ACTIVE:
        raise MoveNotAllowed("The channel of this broadcast is not connected. Connect it again, and resume then.")
    forget_tries_of(found.pk)
    changes = {"status": Status.SENDING, "paused_reason": None, "broke_off_at": None}
    return _move(found, events.RESUMED, Q(status=Status.PAUSED), by=by, now=now, **changes)


@transaction.atomic
def cancel_broadcast(*, broadcast: Broadcast, now: datetime, by: Actor) -> Broadcast:
    """End a broadcast and skip its unsent messages. A broadcast that has not begun no longer counts in the plan."""
    alive = Q(status__in=(Status.SCHEDULED, Status.SENDING, Status.PAUSED))
    has_begun = When(started_at__isnull=False, then=Value(now))
    not_begun = When(started_at__isnull=True, then=Value(None))
    return _move(
        broadcast,
        events.CANCELLED,
        alive,
        by=by,
        now=now,
        status=Status.CANCELLED,
        paused_reason=None,
        completed_at=now,
        next_due_at=Case(has_begun),
        counted_at=Case(not_begun, default=F("counted_at")),
    )


def _move(broadcast: Broadcast, event: str, allowed: Q, *, by: Actor, now: datetime, **changes: object) -> Broadcast:
    """Change the row if its state allows the move, record the move, and wake the workers that act on it."""
    moved = Broadcast.objects.filter(allowed, pk=broadcast.pk).update(updated_at=now, **changes)
    found = _read(broadcast)
    if not moved:
        raise MoveNotAllowed(_refusal(found, event))
    details = {"reason": found.paused_reason} if found.paused_reason else None
    record_broadcast_change(found, event, by=by, now=now, details=details)
    for name in (SWEEP, SENDER):
        wake_up(name)
    return found


def is_waiting_for_approval(broadcast: Broadcast) -> bool:
    """Say whether a broadcast still needs approval and can get it."""
    has_not_begun = broadcast.status in (Status.DRAFT, Status.SCHEDULED)
    return has_not_begun and broadcast.requires_approval and broadcast.approved_at is None


def _check_version(found: Broadcast, version: datetime | None) -> None:
    if version not in (None, found.updated_at):
        raise BroadcastChanged


def lock_broadcast(broadcast: Broadcast) -> Broadcast:
    """Re-read a broadcast with a lock, inside the caller's transaction. Raises `BroadcastNotFound`."""
    rows = joined(Broadcast.objects.filter(pk=broadcast.pk))
    return _found(rows.select_for_update(of=("self",), no_key=True))


def _read(broadcast: Broadcast) -> Broadcast:
    return _found(joined(Broadcast.objects.filter(pk=broadcast.pk)))


def _found(rows: BroadcastQuerySet) -> Broadcast:
    found = rows.first()
    if found is None:
        raise BroadcastNotFound
    return found


def _refusal(broadcast: Broadcast, event: str) -> str:
    said = REFUSALS[event].get(broadcast.status) or ENDED.get(Status(broadcast.status))
    if said:
        return said
    return "This broadcast has been approved already." if broadcast.approved_at else "This broadcast needs no approval."


def check_it_can_be_sent(draft: Broadcast) -> None:
    """Refuse a broadcast that its channel or template can no longer send. Raises `BroadcastRefused`."""
    if draft.channel.status != Channel.Status.ACTIVE:
        raise BroadcastRefused("The channel of this broadcast is not connected. Connect it again.", field="channel")
    write_message(draft.message, draft.channel)


CANCELLED_AT_ONCE: Final = 2_000
WAITING: Final = (Stage.READY, Stage.HELD)
# One stage at a time, each by its index.
SKIP: Final = """
WITH waiting AS (
    SELECT broadcast_id, contact_id FROM broadcasts_recipient WHERE broadcast_id = %s AND stage = {stage}
    ORDER BY due_at, contact_id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE broadcasts_recipient recipient SET stage = {done}, status = 'skipped', skip_reason = 'cancelled'
FROM waiting
WHERE recipient.broadcast_id = waiting.broadcast_id AND recipient.contact_id = waiting.contact_id
RETURNING recipient.contact_id
"""


@transaction.atomic
def skip_next_cancelled(*, now: datetime) -> bool:
    """Skip a batch of a cancelled broadcast's unsent recipients. False if there is nothing to skip now.

    Messages that are being sent are left alone. A later round skips those that come back unsent.
    """
    for broadcast in cancelled_broadcasts().select_for_update(skip_locked=True, no_key=True):
        if _skip(broadcast, now):
            return True
        if not _may_come_back(broadcast):
            Broadcast.objects.filter(pk=broadcast.pk).update(next_due_at=None)
    return False


def cancelled_broadcasts() -> "QuerySet[Broadcast]":
    """Return the cancelled broadcasts that may have recipients left to skip, in their order."""
    return Broadcast.objects.filter(status=Broadcast.Status.CANCELLED, next_due_at__isnull=False).order_by("pk")


def _skip(broadcast: Broadcast, now: datetime) -> bool:
    for stage in WAITING:
        with connection.cursor() as cursor:
            cursor.execute(SKIP.format(stage=stage.value, done=Stage.DONE.value), [broadcast.pk, CANCELLED_AT_ONCE])
            skipped = [(broadcast.pk, contact) for (contact,) in cursor.fetchall()]
        if skipped:
            number = len(skipped)
            record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=now)
            held = {"held": -number} if stage is Stage.HELD else {}
            add_counts({broadcast.pk: {"pending": -number, "skipped": number, **held}})
            return True
    return False


def _may_come_back(broadcast: Broadcast) -> bool:
    """Whether recipients still wait, or are being sent to and may come back unsent."""
    open_ones = Recipient.objects.of(broadcast)
    return any(open_ones.filter(stage=stage.value).exists() for stage in (*WAITING, Stage.CLAIMED))


# Each check reads the recipients, so no broadcast ends too early and none stays open for ever.

# The most broadcasts of a sweep; the next sweep goes on with later ones.
MOST_BROADCASTS: Final = 10_000
COMPLETED_AT_ONCE: Final = 500

# A look into the index of each stage says whether recipients are left; the order keeps the planner from reading all
# rows. A finished recipient stays finished, so a broadcast found here has ended for good.
COMPLETE: Final = """
UPDATE broadcasts_broadcast SET status = 'sent', completed_at = %(now)s, updated_at = %(now)s, next_due_at = NULL
WHERE status = 'sending' AND is_prepared AND id IN (
    SELECT broadcast.id FROM unnest(%(ids)s::bigint[]) AS broadcast (id)
    WHERE (SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = broadcast.id AND stage = 0
            ORDER BY due_at, contact_id LIMIT 1) IS NULL
        AND (SELECT contact_id FROM broadcasts_recipient WHERE broadcast_id = broadcast.id AND stage = 3
            ORDER BY due_at, contact_id LIMIT 1) IS NULL
        AND broadcast.id NOT IN (SELECT broadcast_id FROM broadcasts_recipient WHERE stage = 1)
        AND broadcast.id NOT IN (SELECT broadcast_id FROM broadcasts_recipient WHERE stage = 2)
) RETURNING id
"""


def complete_broadcasts(*, now: datetime, after: int) -> int:
    """Complete finished broadcasts among the next after `after`. Returns the last one looked at; 0 at the end.

    So broadcasts that wait for long, however many, keep no newer broadcast from its end.
    """
    ids = list(prepared_broadcasts().filter(pk__gt=after).values_list("pk", flat=True)[:MOST_BROADCASTS])
    for first in range(0, len(ids), COMPLETED_AT_ONCE):
        _complete(ids[first : first + COMPLETED_AT_ONCE], now)
    return ids[-1] if len(ids) == MOST_BROADCASTS else 0


def prepared_broadcasts() -> "QuerySet[Broadcast]":
    """Return the broadcasts that are being sent and fully prepared, in their order."""
    return Broadcast.objects.filter(status=Status.SENDING, is_prepared=True).order_by("id")


@transaction.atomic
def _complete(ids: Iterable[int], now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(COMPLETE, {"now": now, "ids": integers(ids)})
        ended = [pk for (pk,) in cursor.fetchall()]
    for broadcast in joined(Broadcast.objects.filter(pk__in=ended)).order_by("id"):
        record_broadcast_change(broadcast, events.COMPLETED, by=SYSTEM, now=now)
