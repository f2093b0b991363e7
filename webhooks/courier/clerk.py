"""The courier's two desks at the database, each a thread with a connection of its own.

The clerk fans out events, leases deliveries and frees the leases of couriers that died; the recorder writes down
attempts in batches. Neither keeps a transaction open while anything is sent.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError, connection

from webhooks.courier import rows
from webhooks.courier.verdicts import Landed, columns

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
REST_AFTER_FAULT_SECONDS = 0.5
RECORD_BATCH = 500
CLAIM_BATCH = 1_000
FIRST_CLAIM = 8


class Demand:
    """What the event loop wants next; written by the loop, read by the clerk."""

    def __init__(self) -> None:
        self.total = CLAIM_BATCH
        self.room: dict[int, int] = {}
        self.full: list[int] = []
        self.is_fresh = threading.Event()
        self.is_fresh.set()


class Desk:
    """A thread that works until it is told to stop, and survives the database's absence."""

    name = "desk"

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def _run(self) -> None:
        try:
            while not self.stopping.is_set():
                self._work_once()
            self.finish()
        finally:
            connection.close()

    def _work_once(self) -> None:
        try:
            self.work()
        except DatabaseError as error:
            logger.warning("the courier's database is away", extra={"desk": self.name, "fault": type(error).__name__})
            connection.close()
            self.after_fault()
            self.stopping.wait(REST_AFTER_FAULT_SECONDS)

    def work(self) -> None:
        """Do a round; returns soon, so that a stop is seen."""
        raise NotImplementedError

    def after_fault(self) -> None:
        """Forget what belonged to the lost connection."""

    def finish(self) -> None:
        """Do what is left to be done at the end."""


class Clerk(Desk):
    """Finds work: `deliver` gets every batch of leased rows."""

    name = "courier-clerk"

    def __init__(self, owner: int, demand: Demand, deliver: Callable[[list[rows.Leased]], None]) -> None:
        super().__init__(owner)
        self.demand = demand
        self.deliver = deliver
        self.bell = threading.Event()
        self._announced = False
        self._swept_at = 0.0

    def work(self) -> None:
        if not self._announced:
            rows.announce(owner=self.owner)
            self._announced = True
        self.bell.clear()
        if time.monotonic() - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            rows.reap()
        found = rows.fan_out()
        leased = self._claim() if self.demand.is_fresh.wait(SWEEP_SECONDS) and self.demand.total > 0 else []
        if leased:
            self.demand.is_fresh.clear()
            self.deliver(leased)
        if not found and not leased:
            self.bell.wait(SWEEP_SECONDS)

    def _claim(self) -> list[rows.Leased]:
        demand = self.demand
        leased = rows.claim(
            owner=self.owner, batch=min(demand.total, CLAIM_BATCH), first=FIRST_CLAIM, room=demand.room, full=demand.full
        )
        unwanted = [row.id for row in leased if not row.wanted]
        if unwanted:
            rows.abandon(owner=self.owner, ids=unwanted, error="endpoint_disabled")
        return [row for row in leased if row.wanted]

    def after_fault(self) -> None:
        self._announced = False


class Recorder(Desk):
    """Writes down what the event loop puts into `done` and gives back what it puts into `unused`."""

    name = "courier-recorder"

    def __init__(self, owner: int) -> None:
        super().__init__(owner)
        self.done: queue.SimpleQueue[Landed | rows.Leased | None] = queue.SimpleQueue()
        self._landed: list[Landed] = []
        self._unused: list[rows.Leased] = []
        self.recorded = threading.Event()

    def work(self) -> None:
        if not self._landed and not self._unused:
            self._take(block=True)
        while len(self._landed) < RECORD_BATCH and self._take(block=False):
            pass
        self._write()

    def _take(self, *, block: bool) -> bool:
        try:
            item = self.done.get(block=block, timeout=SWEEP_SECONDS if block else None)
        except queue.Empty:
            return False
        if isinstance(item, Landed):
            self._landed.append(item)
        elif item is not None:
            self._unused.append(item)
        return True

    def _write(self) -> None:
        if self._landed:
            kept = rows.record(owner=self.owner, columns=columns(self._landed))
            if kept < len(self._landed):
                logger.warning("attempts of lost leases were not recorded", extra={"lost": len(self._landed) - kept})
            self._landed = []
        if self._unused:
            rows.give_back(owner=self.owner, ids=[row.id for row in self._unused])
            self._unused = []

    def finish(self) -> None:
        until = time.monotonic() + 5
        while time.monotonic() < until and (self._landed or self._unused or not self.done.empty()):
            self._work_once()
