"""Skips the unsent recipients of cancelled broadcasts, in batches."""

from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from broadcasts import events
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recipient_events import record_recipient_events

BATCH: Final = 2_000
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
            cursor.execute(SKIP.format(stage=stage.value, done=Stage.DONE.value), [broadcast.pk, BATCH])
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
