"""What keeps broadcasts going beside the sender: begins them, prepares their recipients in turn, and ends them."""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from django.db import DatabaseError, connection

from broadcasts.models import Broadcast
from broadcasts.services.audience.preparing import prepare_chunk, unprepared
from broadcasts.services.progress.beginning import begin_due_broadcasts, begin_refused_broadcasts
from broadcasts.services.progress.cancelling import skip_next_cancelled
from broadcasts.services.progress.completing import complete_broadcasts
from config.celery.tasks import in_batches
from config.db import database_now
from config.leases.turns import Path, Turns

logger = logging.getLogger(__name__)

# How often it is looked for what is due. Preparation goes on between two looks.
LOOK_SECONDS: Final = 0.5
SKIPPING_SECONDS: Final = 0.2
MOST_UNPREPARED: Final = 5_000
# After a fault a broadcast waits for so long, and holds up no other.
PAUSE_SECONDS: Final = 30.0


class Round:
    """Works in small pieces, of an agency, a workspace and a broadcast in turn: a large one delays no small one."""

    def __init__(self, *, chunk: int | None = None) -> None:
        self._chunk = chunk
        self._turns = Turns()
        self._known: set[Path] = set()
        self._rests: dict[int, float] = {}
        self._looked_at: float | None = None

    def go_on(self) -> bool:
        """Do a piece; says whether there was any."""
        if self._looked_at is None or time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self.look()
        path = next(self._turns.in_turn(most_of_each=1), None)
        if path is None:
            return False
        self._turns.end_turn(path)
        self._prepare(path)
        return True

    def look(self) -> None:
        """Begin what is due, end what is through, and learn what has to be prepared."""
        now = database_now()
        begin_due_broadcasts(now=now)
        begin_refused_broadcasts(now=now)
        in_batches(partial(skip_next_cancelled, now=now), seconds=SKIPPING_SECONDS)
        complete_broadcasts(now=now)
        self._learn()
        self._looked_at = time.monotonic()

    def _learn(self) -> None:
        rows = Broadcast.objects.filter(unprepared()).order_by("id")
        found: set[Path] = set(rows.values_list("workspace__agency_id", "workspace_id", "pk")[:MOST_UNPREPARED])
        now = time.monotonic()
        self._rests = {pk: until for pk, until in self._rests.items() if until > now}
        found = {path for path in found if path[-1] not in self._rests}
        for path in self._known - found:
            self._turns.remove(path)
        for path in sorted(found - self._known):
            self._turns.add(path)
        self._known = found

    def _prepare(self, path: Path) -> None:
        try:
            has_more = prepare_chunk(path[-1], now=database_now(), size=self._chunk)
        except DatabaseError as error:
            if not connection.is_usable():
                raise  # the database is away, which says nothing about the broadcast
            logger.exception(
                "a broadcast could not be prepared", extra={"broadcast": path[-1], "fault": str(type(error))}
            )
            self._rests[path[-1]] = time.monotonic() + PAUSE_SECONDS
            has_more = False
        if not has_more:
            self._turns.remove(path)
            self._known.discard(path)


def run_round(*, should_stop: Callable[[], bool], idle_seconds: float = LOOK_SECONDS / 2) -> None:
    """Go on until it is to stop."""
    current = Round()
    while not should_stop():
        if not current.go_on():
            time.sleep(idle_seconds)
