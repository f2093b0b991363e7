"""Which chunk of an audience a connection prepares: the next one, or the one behind it where another one has that.

Chunks are prepared at the same time and committed in the order of their contacts. So how far a broadcast has come is
one number still; its recipients come to be in the order of their ids; of two with one address it is the older one who
gets it; and whatever dies leaves no gap. Who has which chunk is known by advisory locks alone, which end with their
transactions: threads of a process and processes of several hosts share a broadcast in the same way.
"""

from typing import Final, NamedTuple

from django.db.models import Q

from broadcasts.models import Broadcast
from broadcasts.services.audience.locking import join_preparation, place_of, take_chunk
from broadcasts.services.audience.people import end_of_chunk
from broadcasts.services.audience.skips import wants_skips

# Contacts that the walk passes in one transaction, which then takes about 50 ms.
SIZE: Final = 5_000
# Where each skipped recipient is an event.
SIZE_WITH_EVENTS: Final = 1_000
# Others may go on while it is looked for a chunk; where they do so all the time, it is looked again soon.
TRIES: Final = 8
Status = Broadcast.Status


class TakenChunk(NamedTuple):
    """The contacts behind `after` up to `up_to`. `previous` is the chunk before, where somebody has that still."""

    broadcast: Broadcast
    after: int
    up_to: int
    previous: int | None
    wants_events: bool

    @property
    def is_last(self) -> bool:
        return self.up_to >= (self.broadcast.last_contact or 0)


def unprepared() -> Q:
    """What is under way and has contacts left to walk; one whose message was refused has nothing to prepare.

    One whose preparation was given up waits until it is resumed.
    """
    under_way = Q(status__in=(Status.SENDING, Status.PAUSED), is_prepared=False, broke_off_at=None)
    return under_way & ~Q(frozen__is_refused=True)


def find_chunk(broadcast: int, *, size: int | None, alone: bool) -> TakenChunk | None:
    """Take a chunk until the transaction ends; None where others have all that may be prepared now, or nothing is left.

    The broadcast's row stays free, so that it can be paused at any time. `alone` waits until nobody else prepares it.
    """
    joined = join_preparation(broadcast, alone=alone)
    if joined is None or not joined.may_prepare:
        return None
    rows = Broadcast.objects.select_related("channel", "workspace")
    found = rows.filter(unprepared(), pk=broadcast).first()
    if found is None:
        return None
    wants_events = wants_skips(found)
    size = size or (SIZE_WITH_EVENTS if wants_events else SIZE)
    place = _free_place(found, joined.after, size, is_taken=joined.is_taken)
    if place is None:
        return None
    after, previous = place
    return TakenChunk(found, after, end_of_chunk(found, after=after, size=size), previous, wants_events)


def _free_place(broadcast: Broadcast, after: int, size: int, *, is_taken: bool) -> tuple[int, int | None] | None:
    """Take the next chunk, or the one behind it; gives where that begins, and where the one before it does."""
    last = broadcast.last_contact or 0
    previous: int | None = None
    place: int | None = broadcast.prepared_up_to
    for _ in range(TRIES):
        if is_taken and place in (after, previous):
            return after, previous if place == previous else None
        if place is None or place == previous:
            return None  # two are at it already
        if place == after:
            previous, after = after, end_of_chunk(broadcast, after=after, size=size)
            if after >= last:
                return None
        else:
            previous, after = None, place  # the chunk was free as it is prepared by now
        is_taken, place = take_chunk(broadcast.pk, after), place_of(broadcast.pk)
    return None
