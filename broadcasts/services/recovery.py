"""After a restore: recipients that may have been sent to since the backup become unknown, and no broadcast goes on."""

import time
from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext_noop

from agency.actors import SYSTEM
from broadcasts import events
from broadcasts.models import Broadcast, BroadcastQuerySet
from broadcasts.services.counts import add_counts
from broadcasts.services.listing import joined
from broadcasts.services.moving import pause_for_fault
from broadcasts.services.notifications import notify_of_pause
from broadcasts.services.preparation import unprepared
from broadcasts.services.preparation_turns import PreparationTurns
from broadcasts.services.recipient_events import record_broadcast_change
from channelconnect.sending.sources import UNKNOWN_SECONDS

# The numbers of rows that one transaction changes.
BROADCASTS: Final = 50
RECIPIENTS: Final = 2_000
# The time that preparation may take in all, and the pause between looks at whether others have completed it.
PREPARING_SECONDS: Final = 600.0
PAUSE_SECONDS: Final = 0.05
UNDER_WAY: Final = gettext_noop(
    "The system was restored to an earlier time. Recipients who may have got the message since then do not get it "
    "again. Unless the network reports a result, they fail with send_outcome_unknown. The other recipients wait. Check "
    "the recipients, then resume."
)
PAUSED_BEFORE: Final = gettext_noop(
    "The system was restored to an earlier time, when this broadcast was paused. If you resumed the broadcast after "
    "that time, the recipients who wait here may already have got it. In that case, cancel it and do not resume it."
)
NOT_BEGUN: Final = gettext_noop(
    "The system was restored to a time before this broadcast began, so the broadcast may already have been sent. "
    "Approve it to send it, or cancel it."
)
Status = Broadcast.Status

# Recipients that were due or waited for room may have been claimed after the backup was made.
MARK: Final = """
WITH doubtful AS MATERIALIZED (
    SELECT contact_id, stage FROM broadcasts_recipient
    WHERE broadcast_id = %(broadcast)s AND contact_id > %(after)s
        AND (stage IN (1, 3) OR (stage = 0 AND due_at <= %(now)s))
    ORDER BY contact_id LIMIT %(most)s FOR NO KEY UPDATE
), marked AS (
    UPDATE broadcasts_recipient recipient SET stage = 2, run = NULL,
        due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
    FROM doubtful WHERE recipient.broadcast_id = %(broadcast)s AND recipient.contact_id = doubtful.contact_id
    RETURNING recipient.contact_id
)
SELECT count(*), count(*) FILTER (WHERE stage = 3), max(contact_id), (SELECT count(*) FROM marked) FROM doubtful
"""


class NotPrepared(Exception):
    """A broadcast could not be prepared in time; the log says why."""


def pause_after_restore(*, now: datetime) -> tuple[int, int]:
    """Pause broadcasts that are being sent, and mark recipients. Returns how many of each; a repeated call goes on.

    Broadcasts are prepared to their end first: a recipient without a row cannot be marked. Raises `NotPrepared`.
    """
    _prepare_the_rest()
    broadcasts = recipients = 0
    while found := list(_of(Status.SENDING)[:BROADCASTS].values_list("pk", flat=True)):
        recipients += sum(_mark_unknown(pk, now) for pk in found)
        broadcasts += len(pause_for_fault(found, UNDER_WAY, now))
    return broadcasts, recipients


def add_restore_warning(*, now: datetime) -> int:
    """Warn on each paused broadcast that it may have been resumed since the backup. Returns how many."""
    number = 0
    rows = _of(Status.PAUSED).exclude(paused_reason__in=(UNDER_WAY, PAUSED_BEFORE))
    while found := list(rows[:BROADCASTS].values_list("pk", flat=True)):
        with transaction.atomic():
            locked = _lock(found, Status.PAUSED)
            locked.update(paused_reason=PAUSED_BEFORE, updated_at=now)
            _record_events(locked, events.PAUSED, PAUSED_BEFORE, now)
        number += len(found)
    return number


def require_approval_after_restore(*, now: datetime) -> int:
    """Make due broadcasts wait for an approval, because they may have begun before the restore. Returns how many."""
    number = 0
    rows = _of(Status.SCHEDULED).filter(due_at__lte=now).exclude(requires_approval=True, approved_at=None)
    while found := list(rows[:BROADCASTS].values_list("pk", flat=True)):
        with transaction.atomic():
            changes = {"requires_approval": True, "approved_at": None, "approved_by": "", "updated_at": now}
            locked = _lock(found, Status.SCHEDULED)
            locked.update(**changes)
            _record_events(locked, events.UPDATED, NOT_BEGUN, now)
        number += len(found)
    return number


def _of(status: str) -> BroadcastQuerySet:
    return Broadcast.objects.filter(status=status).order_by("pk")


def _lock(ids: Collection[int], status: str) -> BroadcastQuerySet:
    """Lock broadcasts in the order of their keys. Returns those that still have this status."""
    locked = _of(status).filter(pk__in=ids).select_for_update(no_key=True).values_list("pk", flat=True)
    return Broadcast.objects.filter(pk__in=list(locked))


def _record_events(rows: BroadcastQuerySet, event: str, reason: str, now: datetime) -> None:
    for one in joined(rows).order_by("pk"):
        record_broadcast_change(one, event, by=SYSTEM, now=now, details={"reason": reason})
        notify_of_pause(one, now=now, reason=reason)


def _prepare_the_rest() -> None:
    """Finish preparing all broadcasts that are being sent, including those that a worker is preparing now."""
    turns, until = PreparationTurns(), time.monotonic() + PREPARING_SECONDS
    unfinished = Broadcast.objects.filter(unprepared(), status=Status.SENDING)
    while unfinished.exists():
        if time.monotonic() > until:
            raise NotPrepared
        turns.learn()
        while turns.go_on():
            pass
        time.sleep(PAUSE_SECONDS)


def _mark_unknown(broadcast: int, now: datetime) -> int:
    """Mark recipients that may have been sent to as unknown, batch by batch. Returns how many."""
    number, after = 0, 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            values: dict[str, int | datetime] = {"broadcast": broadcast, "after": after, "now": now, "most": RECIPIENTS}
            cursor.execute(MARK, {**values, "seconds": UNKNOWN_SECONDS})
            found, held, last, _ = cursor.fetchone()
            add_counts({broadcast: {"held": -held}})
        if not found:
            return number
        number, after = number + found, last
