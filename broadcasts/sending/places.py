"""How far a sender has come in each broadcast's queue.

While somebody holds a snapshot, the entries of recipients that were sent to stay in the index. A claim that began at
the front would walk over all of them each time, so it goes on where the last one ended, and begins anew now and then:
what was put back before that place is found then.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Final, NamedTuple

LONGEST_REST_SECONDS: Final = 60.0
FORGET_SECONDS: Final = 600.0
# Walks from the front take a fiftieth of the time at most.
REST_FOR_EACH_SECOND: Final = 50.0


class Place(NamedTuple):
    due_at: datetime
    contact: int


FRONT: Final = Place(datetime(2000, 1, 1, tzinfo=UTC), 0)


class Places:
    """Only the claimer's thread uses it."""

    def __init__(self) -> None:
        self._places: dict[int, Place] = {}
        self._began_at: dict[int, float] = {}
        self._rests: dict[int, float] = {}

    def of(self, broadcast: int) -> Place:
        """Where to look on; the front where that is due again."""
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
        """Go back to the front, where nothing is left behind the place; False where that is not yet worth it."""
        if monotonic() - self._began_at.get(broadcast, 0.0) < self._rests.get(broadcast, 0.0):
            return False
        self._begin_anew(broadcast)
        return True

    def forget_old(self) -> None:
        """Forget the places of broadcasts that were not looked at for long."""
        before = monotonic() - FORGET_SECONDS
        for broadcast in [one for one, began_at in self._began_at.items() if began_at < before]:
            self._began_at.pop(broadcast)
            self._places.pop(broadcast, None)
            self._rests.pop(broadcast, None)

    def _begin_anew(self, broadcast: int) -> None:
        self._places.pop(broadcast, None)
        self._began_at[broadcast] = monotonic()
