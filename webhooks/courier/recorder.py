"""The desk that writes down what came of deliveries, in batches."""

import logging
import time
from collections import deque
from collections.abc import Iterable
from threading import Event
from typing import TypeVar

import psycopg

from webhooks.courier import rows
from webhooks.courier.database import Connection
from webhooks.courier.desk import REST_AFTER_FAULT_SECONDS, Desk
from webhooks.courier.rows import Leased
from webhooks.courier.verdicts import Landed, told
from webhooks.transport.outcomes import FAILED

logger = logging.getLogger(__name__)

BATCH = 500
# So that a busy courier writes few large batches; a quiet one writes at once.
BREATH_SECONDS = 0.02
SWEEP_SECONDS = 0.5
LAST_CALL_SECONDS = 8.0
DISABLED = "endpoint_disabled"
Row = TypeVar("Row")


class Recorder(Desk):
    """Takes attempts that ended, leases that were not used, and deliveries that nobody wants any more."""

    name = "recorder"

    def __init__(self, shift: int) -> None:
        super().__init__(shift)
        self._bell, self._has_batch = Event(), Event()
        self._landed: deque[Landed] = deque()
        self._unused: deque[Leased] = deque()
        self._unwanted: deque[Leased] = deque()
        self._wrote_at = 0.0

    @property
    def backlog(self) -> int:
        """How many attempts wait to be written down."""
        return len(self._landed)

    def note(
        self, *, landed: Iterable[Landed] = (), unused: Iterable[Leased] = (), unwanted: Iterable[Leased] = ()
    ) -> None:
        """Called by the event loop."""
        self._landed.extend(landed)
        self._unused.extend(unused)
        self._unwanted.extend(unwanted)
        if not self._bell.is_set():
            self._bell.set()
        if len(self._landed) >= BATCH:
            self._has_batch.set()

    @property
    def has_work(self) -> bool:
        """Whether something is still to be written down."""
        return bool(self._landed or self._unused or self._unwanted)

    def work(self) -> None:
        connection = self.connection
        if not self.has_work and not self._bell.wait(SWEEP_SECONDS):
            return
        self._bell.clear()
        self._breathe()
        if landed := _first(self._landed):
            kept = self._record(connection, landed)
            _remove(self._landed, landed)
            if kept < len(landed):
                logger.warning("attempts of lost leases were not recorded", extra={"lost": len(landed) - kept})
        if unused := _first(self._unused):
            rows.give_back(connection, shift=self.shift, ids=[row.id for row in unused])
            _remove(self._unused, unused)
        if unwanted := _first(self._unwanted):
            rows.abandon(connection, shift=self.shift, ids=[row.id for row in unwanted], error=DISABLED)
            _remove(self._unwanted, unwanted)
        self._wrote_at = time.monotonic()

    def _record(self, connection: Connection, landed: list[Landed]) -> int:
        """Write attempts down; one that the database refuses ends its delivery, and hinders no other's record."""
        try:
            return rows.record(connection, shift=self.shift, told=told(landed))
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if len(landed) > 1:
                half = len(landed) // 2
                return self._record(connection, landed[:half]) + self._record(connection, landed[half:])
            poison = landed[0].row.id
            logger.error("an attempt cannot be recorded", extra={"delivery": poison, "fault": type(error).__name__})
            rows.abandon(connection, shift=self.shift, ids=[poison], error=FAILED)
            return 1

    def _breathe(self) -> None:
        self._has_batch.clear()
        left = self._wrote_at + BREATH_SECONDS - time.monotonic()
        if left > 0 and len(self._landed) < BATCH and not self.stopping.is_set():
            self._has_batch.wait(left)

    def wake(self) -> None:
        self._bell.set()
        self._has_batch.set()

    def finish(self) -> None:
        until = time.monotonic() + LAST_CALL_SECONDS
        while self.has_work and time.monotonic() < until:
            if not self.work_once():
                time.sleep(REST_AFTER_FAULT_SECONDS)


def _first(rows: "deque[Row]") -> "list[Row]":
    """Look at the oldest of them; they stay until they are written, and the loop appends meanwhile."""
    return [rows[place] for place in range(min(BATCH, len(rows)))]


def _remove(rows: "deque[Row]", written: "list[Row]") -> None:
    for _ in written:
        rows.popleft()
