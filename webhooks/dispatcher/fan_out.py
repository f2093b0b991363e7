"""The fan-out thread, which creates a delivery of each new event for each subscribed endpoint.

It has its own connection, so its faults neither end the run nor delay deliveries that are ready.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from threading import Event
from time import monotonic
from typing import NamedTuple

import psycopg

from config.leases.backlog import Backlog, Cursor, Path, ScanResult, Waiting
from config.leases.claimer import SWEEP_SECONDS
from config.leases.connections import Connection, DatabaseThread
from config.leases.runs import OwnedShards, shard_of
from config.metrics import observe
from config.postgresql.arrays import integers
from webhooks.dispatcher import statements

logger = logging.getLogger(__name__)

MOST_TENANTS = 64
# Larger batches are no cheaper for each delivery, and a new event waits until the current batch ends.
MOST_EVENTS, MOST_ROWS = 250, 500
LEAST_ROWS, LEAST_ROWS_OF_ALL = 10, 50
# The batch is halved after more than `LONG_SECONDS`, and doubled after less than `SHORT_SECONDS`.
LONG_SECONDS, SHORT_SECONDS = 0.1, 0.03
STATEMENT_TIMEOUT = "5s"


class EventBacklog(Backlog):
    """The tenants with events that have no deliveries yet. The agency's primary key decides which dispatcher has them.

    A path is (agency, workspace). The workspace is 0 for the agency itself.
    """

    def __init__(self, shards: OwnedShards) -> None:
        super().__init__()
        self._shards = shards

    def is_ours(self, path: Path) -> bool:
        return shard_of(path[0]) in self._shards.held | self._shards.watched

    def look_for_new(self, connection: Connection, unread: dict[str, int | str], limit: int) -> ScanResult:
        rows = connection.execute(statements.NEW_EVENTS, {**unread, "limit": limit}, prepare=True).fetchall()
        waiting = [Waiting((row[2], row[3]), row[4]) for row in rows if row[2] is not None]
        return ScanResult(rows[0][0], waiting, rows[0][1])

    def look_at_page(self, connection: Connection, after: Path | None, page: int) -> list[Waiting]:
        agency, workspace = after or (0, 0)
        values = {"agency": agency, "workspace": workspace, "page": page}
        rows = connection.execute(statements.EVENTS_OF_TENANTS, values, prepare=True)
        return [Waiting((row[0], row[1]), row[2]) for row in rows]


class BatchSize(NamedTuple):
    """The size of one statement: the events and deliveries that its tenants share."""

    events: int = MOST_EVENTS
    rows: int = MOST_ROWS

    def halved(self) -> "BatchSize":
        return BatchSize(max(1, self.events // 2), max(LEAST_ROWS_OF_ALL, self.rows // 2))

    def doubled(self) -> "BatchSize":
        return BatchSize(min(MOST_EVENTS, self.events * 2), min(MOST_ROWS, self.rows * 2))


class ProcessedEvent(NamedTuple):
    """A processed event: its cursor, and whether all its deliveries exist now."""

    place: Cursor
    is_done: bool


class FanOut(DatabaseThread):
    """Creates deliveries in batches and calls `on_made` after each. It rests for `pace()` seconds, or until `wake`."""

    name = "dispatcher fan-out"

    def __init__(
        self,
        run: int,
        shards: OwnedShards,
        on_made: Callable[[], None],
        pace: Callable[[], float] = lambda: SWEEP_SECONDS,
    ) -> None:
        super().__init__(run)
        self._pace = pace
        self.tenants = EventBacklog(shards)
        self._shards, self._seen = shards, shards.held
        self._on_made = on_made
        self._wake_up = Event()
        self._batch = BatchSize()

    def on_connect(self, connection: Connection) -> None:
        connection.execute(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'")
        self.tenants.forget()

    def work(self) -> None:
        connection = self.connection
        self._wake_up.clear()
        if self._seen != (seen := self._shards.held | self._shards.watched):
            self._seen = seen
            self.tenants.forget()
        self.tenants.refresh(connection)
        if not self.fan_out(connection):
            self._wake_up.wait(self._pace())

    def fan_out(self, connection: Connection) -> bool:
        """Create a batch of deliveries. Return whether there may be more."""
        asked = list(islice(self.tenants.turns.in_turn(most_of_each=MOST_TENANTS), MOST_TENANTS))
        if not asked:
            return False
        began = monotonic()
        try:
            made = self._make(connection, asked)
        except psycopg.errors.QueryCanceled:
            logger.warning("a batch of new deliveries took too long", extra=self._batch._asdict())
            self._batch = self._batch.halved()
            for path in asked:
                self.tenants.turns.end_turn(path)
            return True
        took = monotonic() - began
        observe("dispatcher_fan_out_seconds", took)
        if took > LONG_SECONDS:
            self._batch = self._batch.halved()
        elif took < SHORT_SECONDS:
            self._batch = self._batch.doubled()
        if made:
            self._on_made()
        return True

    def _make(self, connection: Connection, asked: list[Path]) -> int:
        """Execute the statement and move the tenants' cursors. Return the number of deliveries."""
        each = max(1, self._batch.events // len(asked))
        rows_each = max(LEAST_ROWS, self._batch.rows // len(asked))
        places = [self.tenants.places[path] for path in asked]
        values = {
            "agencies": integers(path[0] for path in asked),
            "workspaces": integers(path[1] for path in asked),
            "positions": integers(place.position for place in places),
            "ids": integers(place.id for place in places),
            "events": each,
            "rows": rows_each,
            "tenants": len(asked),
        }
        rows = connection.execute(statements.FAN_OUT, values, prepare=True).fetchall()
        made = int(rows[0][0]) if rows else 0
        events: dict[int, list[ProcessedEvent]] = defaultdict(list)
        for row in rows:
            events[row[1]].append(ProcessedEvent(Cursor(row[2], row[3]), row[4]))
        for turn, path in enumerate(asked, 1):
            self._advance_cursor(path, events[turn], each=each)
        return made

    def _advance_cursor(self, path: Path, events: list[ProcessedEvent], *, each: int) -> None:
        """Move a tenant's cursor behind its finished events."""
        done = [one for one in events if one.is_done]
        if len(done) == len(events) < each:
            self.tenants.finish(path)
        elif done:
            self.tenants.go_on(path, done[-1].place)
        else:
            self.tenants.turns.end_turn(path)

    def wake(self) -> None:
        self._wake_up.set()
