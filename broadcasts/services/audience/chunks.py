"""Chooses the chunk of an audience that a connection prepares: the next, or the one after it if the next is taken.

Two connections prepare chunks at the same time, but commit them in the order of their contacts. So one number still
says how far a broadcast has come, and recipients appear in the order of their ids. Of two contacts with one address the
older gets the message. A crash leaves no gap. Only advisory locks say which connection has which chunk, and they end
with its transaction. So threads of a process and processes of several hosts share a broadcast in the same way.
"""

from typing import Final, NamedTuple

from django.db.models import Q

from broadcasts.models import Broadcast
from broadcasts.services.audience.locking import join_preparation, place_of, take_chunk
from broadcasts.services.audience.people import end_of_chunk
from broadcasts.services.audience.skips import wants_skips

# The number of contacts that a transaction walks, which takes about 50 ms.
SIZE: Final = 5_000
# The size if each skipped recipient is an event.
SIZE_WITH_EVENTS: Final = 1_000
# Other connections may move on during the search. After this many attempts it stops; another search follows soon.
TRIES: Final = 8
Status = Broadcast.Status


class TakenChunk(NamedTuple):
    """The contacts with ids above `after`, up to `up_to`. `previous` is the chunk before, if others have it."""

    broadcast: Broadcast
    after: int
    up_to: int
    previous: int | None
    wants_events: bool

    @property
    def is_last(self) -> bool:
        return self.up_to >= (self.broadcast.last_contact or 0)


def unprepared() -> Q:
    """Select broadcasts under way with contacts left to walk. A refused message leaves nothing to prepare.

    A broadcast whose preparation was given up waits until it is resumed.
    """
    under_way = Q(status__in=(Status.SENDING, Status.PAUSED), is_prepared=False, broke_off_at=None)
    return under_way & ~Q(frozen__is_refused=True)


def find_chunk(broadcast: int, *, size: int | None, alone: bool) -> TakenChunk | None:
    """Take a chunk until the transaction ends. None if no chunk is left or free.

    The broadcast's row stays unlocked, so that it can be paused at any time. `alone` waits until no other connection
    prepares the broadcast.
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
    """Take the next chunk, or the one after it. Returns its `after`, and that of a chunk before that others have."""
    last = broadcast.last_contact or 0
    previous: int | None = None
    place: int | None = broadcast.prepared_up_to
    for _ in range(TRIES):
        if is_taken and place in (after, previous):
            return after, previous if place == previous else None
        if place is None or place == previous:
            return None  # two connections prepare it already
        if place == after:
            previous, after = after, end_of_chunk(broadcast, after=after, size=size)
            if after >= last:
                return None
        else:
            previous, after = None, place  # the chunk was free because it is already prepared
        is_taken, place = take_chunk(broadcast.pk, after), place_of(broadcast.pk)
    return None
