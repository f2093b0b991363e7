"""Completes broadcasts that have nothing left to send.

Each check reads the recipients, so no broadcast ends too early and none stays open for ever.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from agency.actors import SYSTEM
from broadcasts import events
from broadcasts.models import Broadcast
from broadcasts.services.events.recording import record_broadcast_change
from broadcasts.services.listing import joined
from config.leases.arrays import integers

# The most broadcasts of a sweep; the next sweep goes on with later ones.
MOST_BROADCASTS: Final = 10_000
BATCH: Final = 500
Status = Broadcast.Status

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
    for first in range(0, len(ids), BATCH):
        _complete(ids[first : first + BATCH], now)
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
