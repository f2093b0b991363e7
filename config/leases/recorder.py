"""The thread that writes down the results of leased rows, in batches."""

import logging
import time
from collections import deque
from collections.abc import Iterable, Sequence
from threading import Event
from typing import Generic, TypeVar

import psycopg

from config.leases.connections import REST_AFTER_FAULT_SECONDS, Connection, DatabaseThread

logger = logging.getLogger(__name__)

BATCH = 500
# With this pause a busy process writes few large batches. A quiet one writes at once.
PAUSE_SECONDS = 0.02
SWEEP_SECONDS = 0.5
LAST_CALL_SECONDS = 8.0
Item = TypeVar("Item")
Result = TypeVar("Result")
Leased = TypeVar("Leased")
Unwanted = TypeVar("Unwanted")


class Recorder(DatabaseThread, Generic[Result, Leased, Unwanted]):
    """Takes results of attempts, unused leases, and rows that nobody wants any more."""

    name = "recorder"

    def __init__(self, run: int) -> None:
        super().__init__(run)
        self._wake_up, self._has_batch = Event(), Event()
        self._results: deque[Result] = deque()
        self._unused: deque[Leased] = deque()
        self._unwanted: deque[Unwanted] = deque()
        self._wrote_at = 0.0

    def record(self, connection: Connection, results: Sequence[Result]) -> int:
        """Write results down; return for how many the lease was still this run's."""
        raise NotImplementedError

    def reject(self, connection: Connection, result: Result, fault: psycopg.Error) -> None:
        """End a row whose result the database refuses to store."""
        raise NotImplementedError

    def give_back(self, connection: Connection, unused: Sequence[Leased]) -> None:
        """Return leases that were not used."""
        raise NotImplementedError

    def abandon(self, connection: Connection, unwanted: Sequence[Unwanted]) -> None:
        """End rows for which nothing will be sent any more."""
        raise NotImplementedError

    @property
    def backlog(self) -> int:
        """How many results wait to be written down."""
        return len(self._results)

    def add(
        self, *, results: Iterable[Result] = (), unused: Iterable[Leased] = (), unwanted: Iterable[Unwanted] = ()
    ) -> None:
        """Add work for this thread. The loop calls this."""
        self._results.extend(results)
        self._unused.extend(unused)
        self._unwanted.extend(unwanted)
        if not self._wake_up.is_set():
            self._wake_up.set()
        if len(self._results) >= BATCH and not self._has_batch.is_set():
            self._has_batch.set()

    @property
    def has_work(self) -> bool:
        """Whether something still waits to be written down."""
        return bool(self._results or self._unused or self._unwanted)

    def work(self) -> None:
        connection = self.connection
        if not self.has_work and not self._wake_up.wait(SWEEP_SECONDS):
            return
        self._wake_up.clear()
        self._let_a_batch_grow()
        if results := _first(self._results):
            kept = self._record(connection, results)
            _remove(self._results, results)
            if kept < len(results):
                logger.warning("attempts of lost leases were not recorded", extra={"lost": len(results) - kept})
        if unused := _first(self._unused):
            self.give_back(connection, unused)
            _remove(self._unused, unused)
        if unwanted := _first(self._unwanted):
            self.abandon(connection, unwanted)
            _remove(self._unwanted, unwanted)
        self._wrote_at = time.monotonic()

    def _record(self, connection: Connection, results: list[Result]) -> int:
        """Write results down. A result that the database refuses ends its row and does not hinder the others."""
        try:
            return self.record(connection, results)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if len(results) > 1:
                half = len(results) // 2
                return self._record(connection, results[:half]) + self._record(connection, results[half:])
            self.reject(connection, results[0], error)
            return 1

    def _let_a_batch_grow(self) -> None:
        self._has_batch.clear()
        left = self._wrote_at + PAUSE_SECONDS - time.monotonic()
        if left > 0 and len(self._results) < BATCH and not self.stopping.is_set():
            self._has_batch.wait(left)

    def wake(self) -> None:
        self._wake_up.set()
        self._has_batch.set()

    def finish(self) -> None:
        until = time.monotonic() + LAST_CALL_SECONDS
        while self.has_work and time.monotonic() < until:
            if not self.work_once():
                time.sleep(REST_AFTER_FAULT_SECONDS)


def _first(items: "deque[Item]") -> "list[Item]":
    """Return the oldest items. They stay until they are written, and the loop appends meanwhile."""
    return [items[index] for index in range(min(BATCH, len(items)))]


def _remove(items: "deque[Item]", written: "list[Item]") -> None:
    for _ in written:
        items.popleft()
