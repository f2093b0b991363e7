"""A sender's position in each broadcast's queue.

While any transaction holds an old snapshot, the index keeps the dead entries of recipients that were sent to. A claim
from the front would walk over all of them each time. So a claim continues where the last claim ended. Now and then it
starts from the front again, to find recipients that were put back before the position.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Final, NamedTuple

LONGEST_REST_SECONDS: Final = 60.0
FORGET_SECONDS: Final = 600.0
# Walks from the front take at most a fiftieth of the time.
REST_FOR_EACH_SECOND: Final = 50.0


class Place(NamedTuple):
    due_at: datetime
    contact: int


FRONT: Final = Place(datetime(2000, 1, 1, tzinfo=UTC), 0)


class Places:
    """The position in each broadcast's queue. Only the claimer's thread uses it."""

    def __init__(self) -> None:
        self._places: dict[int, Place] = {}
        self._began_at: dict[int, float] = {}
        self._rests: dict[int, float] = {}

    def of(self, broadcast: int) -> Place:
        """Return where to continue; the front if a new walk from the front is due."""
        if monotonic() - self._began_at.get(broadcast, 0.0) >= LONGEST_REST_SECONDS:
            self._begin_anew(broadcast)
        return self._places.get(broadcast, FRONT)

    def move(self, broadcast: int, place: Place) -> None:
        self._places[broadcast] = place

    def walked(self, broadcasts: Iterable[int], seconds: float) -> None:
        """Remember how long a walk from the front took."""
        for broadcast in broadcasts:
            self._rests[broadcast] = min(LONGEST_REST_SECONDS, seconds * REST_FOR_EACH_SECOND)

    def begin_anew(self, broadcast: int) -> bool:
        """Return to the front once nothing is left after the position. False if it is too early for that."""
        if monotonic() - self._began_at.get(broadcast, 0.0) < self._rests.get(broadcast, 0.0):
            return False
        self._begin_anew(broadcast)
        return True

    def forget_old(self) -> None:
        """Drop the positions of broadcasts that were not looked at for `FORGET_SECONDS`."""
        before = monotonic() - FORGET_SECONDS
        for broadcast in [one for one, began_at in self._began_at.items() if began_at < before]:
            self._began_at.pop(broadcast)
            self._places.pop(broadcast, None)
            self._rests.pop(broadcast, None)

    def _begin_anew(self, broadcast: int) -> None:
        self._places.pop(broadcast, None)
        self._began_at[broadcast] = monotonic()
