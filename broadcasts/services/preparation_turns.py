"""Prepares in small pieces with turns for agencies, workspaces and broadcasts, so a large one delays no small one."""

import logging
import time
from datetime import datetime
from functools import partial
from typing import Final

from django.db import DatabaseError, connection
from django.db.models import QuerySet

from broadcasts.models import Broadcast
from broadcasts.services.moving import give_up_broadcast
from broadcasts.services.preparation import prepare_chunk, unprepared
from broadcasts.services.preparation_tries import PREPARATION, SECOND_CONNECTION_KEY, has_died
from config.db import database_now
from config.leases.backlog import Path, RoundRobin
from config.tries.counting import has_begun, run_alone

logger = logging.getLogger(__name__)

MOST_UNPREPARED: Final = 5_000
# After a fault a broadcast waits for this long, and holds up no other.
PAUSE_SECONDS: Final = 30.0


class PreparationTurns:
    """The turns of one connection. Several connections work side by side; locks say which chunks are taken."""

    def __init__(self, *, chunk: int | None = None) -> None:
        self._chunk = chunk
        self._turns = RoundRobin()
        self._known: set[Path] = set()
        self._rests: dict[int, float] = {}
        self._begun: set[Path] = set()
        self._is_large = False
        self._learned_at = 0.0

    @property
    def is_large(self) -> bool:
        """Whether the last piece was not its broadcast's first."""
        return self._is_large

    @property
    def is_empty(self) -> bool:
        """Whether no broadcast is known to need preparation."""
        return not self._known

    def learn(self) -> None:
        """Look up the broadcasts that need preparation."""
        rows = unprepared_broadcasts().annotate(has_died=has_begun(PREPARATION)).order_by("has_died", "id")
        paths = rows.values_list("workspace__agency_id", "workspace_id", "pk", "has_died")[:MOST_UNPREPARED]
        died: dict[Path, bool] = {path[:-1]: path[-1] for path in paths}
        now = time.monotonic()
        self._rests = {pk: until for pk, until in self._rests.items() if until > now}
        found = {path for path in died if path[-1] not in self._rests}
        for path in self._known - found:
            self._turns.remove(path)
        # A broadcast that killed a process comes last, or the others would never have a turn.
        for path in sorted(found - self._known, key=lambda path: (died[path], path)):
            self._turns.add(path)
        self._known = found
        self._begun &= found
        self._learned_at = now

    def learn_when_due(self, seconds: float) -> None:
        """Look up again if the last time was at least `seconds` ago."""
        if time.monotonic() - self._learned_at >= seconds:
            self.learn()

    def go_on(self) -> bool:
        """Prepare a chunk of the broadcast whose turn it is. Returns whether there was any."""
        path = next(self._turns.in_turn(most_of_each=1), None)
        if path is None:
            return False
        self._turns.end_turn(path)
        has_more = self._prepare(path)
        self._is_large = has_more and path in self._begun
        if has_more:
            self._begun.add(path)
        else:
            self._turns.remove(path)
            self._known.discard(path)
            self._begun.discard(path)
        return True

    def _prepare(self, path: Path) -> bool:
        try:
            return self._prepare_counted(path[-1])
        except DatabaseError as error:
            if not connection.is_usable():
                raise  # the database is away; the broadcast is not at fault
            logger.exception(
                "a broadcast could not be prepared", extra={"broadcast": path[-1], "fault": str(type(error))}
            )
            self._rests[path[-1]] = time.monotonic() + PAUSE_SECONDS
            return False

    def _prepare_counted(self, broadcast: int) -> bool:
        """Prepare a chunk as the broadcast's first or second connection; after a crash, only as the first."""
        now = database_now()
        work = partial(prepare_chunk, broadcast, now=now, size=self._chunk)
        give_up = partial(_give_up, broadcast, now=now)
        for key in (broadcast, SECOND_CONNECTION_KEY.format(broadcast)):
            found = run_alone(work, kind=PREPARATION, key=key, give_up=give_up, otherwise=None)
            if found is not None or has_died(broadcast):
                return bool(found)
        return False


def _give_up(broadcast: int, *, now: datetime) -> bool:
    give_up_broadcast(broadcast=broadcast, now=now)
    return False


def unprepared_broadcasts() -> "QuerySet[Broadcast]":
    """Return the broadcasts that need preparation, in their order."""
    return Broadcast.objects.filter(unprepared()).order_by("id")
