"""The thread that finds work: leases rows for the loop that asks for them, and keeps the run's presence."""

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Generic, Protocol, TypeVar

import psycopg

from config.leases.clock import lease_clock
from config.leases.connection import Connection
from config.leases.database_thread import DatabaseThread
from config.leases.runs import LEASE_SECONDS, START, WorkerRuns
from config.recovery.identity import is_confirmed

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
# At rest a claimer sweeps less often: nobody has woken it for a while, nothing is leased, and nothing is due soon. It
# rests only while it hears wake-ups, so a lost one delays work by so long. Runs must be seen more often than
# `GRACE_SECONDS` of `config.leases.runs`.
REST_SECONDS = 2.0
AWAKE_SECONDS = 5.0
# What is due within this time keeps a claimer from resting: it is more than a rest and a sweep.
SOON_SECONDS = 3.0
# The loop must have ticked lately, or the leases are let expire.
LOOP_PATIENCE_SECONDS = 5.0
# So often it is asked whether the database is still the one to work with; one that is not, in each sweep.
DATABASE_SECONDS = 5.0


class Capacity(Protocol):
    """What the loop can take; `batch` is how many rows at most, `busy` says of what something is leased."""

    @property
    def batch(self) -> int: ...

    @property
    def busy(self) -> Collection[int]: ...


CapacityT = TypeVar("CapacityT", bound=Capacity)


class Demand(Generic[CapacityT]):
    """What the loop wants next: asked for by the claimer, answered by the loop, good for one claim."""

    def __init__(self, *, nothing: CapacityT, wake: Callable[[], None]) -> None:
        self._nothing = self._capacity = nothing
        self._wake = wake
        self._answered = threading.Event()
        self.is_asked = False
        self._is_closed = False

    def ask(self) -> CapacityT:
        """Called by the claimer; the loop has all earlier batches when it answers."""
        self._answered.clear()
        if self._is_closed:
            return self._nothing
        self.is_asked = True
        self._wake()
        return self._capacity if self._answered.wait(SWEEP_SECONDS) else self._nothing

    def answer(self, capacity: CapacityT) -> None:
        """Called by the loop."""
        self.is_asked = False
        self._capacity = capacity
        self._answered.set()

    def close(self) -> None:
        """Called by the loop, which answers no more."""
        self._is_closed = True
        self.answer(self._nothing)


class Claimer(DatabaseThread, Generic[CapacityT]):
    """Subclasses say what new work is, what a sweep does, and how rows are claimed and passed on.

    The loop sets `loop_ticked_at` while it lives. `is_lost` says that others have taken the run for lost. Of a database
    that was restored, and that nobody has confirmed, nothing is claimed or freed. `pace` is how many seconds pass from
    one sweep to the next. `hears_wake_ups` says whether others can wake this one; without them it never rests.
    """

    name = "claimer"
    longest_attempt_seconds = 0.0

    def __init__(self, run: int, runs: WorkerRuns, demand: Demand[CapacityT]) -> None:
        super().__init__(run)
        self.runs = runs
        self.demand = demand
        self.is_lost = False
        self.is_ending = False
        self.loop_ticked_at = time.monotonic()
        self.found_nothing = False
        self.pace = SWEEP_SECONDS
        self.hears_wake_ups: Callable[[], bool] = lambda: False
        self._awake_at = time.monotonic()
        self._wake_up = threading.Event()
        self._sure_until = 0.0
        self._has_begun = False
        self._swept_at = 0.0
        self._is_confirmed = True
        self._database_looked_at = 0.0
        self._has_announced_end = False
        self._freeing: list[int] = []  # lost runs, of which what they had leased is freed
        self._freed_to = START

    def sweep(self, connection: Connection) -> bool:
        """Do what is to be done whether or not anybody was woken; say whether something is due within `SOON_SECONDS`.

        It is called twice a second, or every `REST_SECONDS` at rest.
        """
        return False

    def wake_others(self) -> None:
        """Wake the other runs: leases or shards may be theirs now."""

    def let_go(self, connection: Connection) -> None:
        """Let others have what this run, which is ending, would have claimed from."""

    def claim(self, connection: Connection, capacity: CapacityT) -> int:
        """Lease rows and pass them on to the loop; say how many."""
        raise NotImplementedError

    @property
    def is_sure(self) -> bool:
        """Whether the leases last for an attempt that starts now; any thread may ask, right before it starts one."""
        return lease_clock() < self._sure_until

    def on_connect(self, connection: Connection) -> None:
        self.stay_awake()
        self._has_announced_end = False
        if not self._has_begun:
            self.runs.begin(connection, run=self.run)
            self._has_begun = True
            self.wake_others()
        self.runs.hold_presence(connection, run=self.run)
        self._be_seen(connection)
        self._look_at_database(connection)

    def work(self) -> None:
        connection = self.connection
        if self._wake_up.is_set():
            self.stay_awake()
        self._wake_up.clear()
        self._sweep(connection)
        has_more = self._free_a_page(connection)
        if self.is_ending:
            self._let_go(connection)
        elif self._is_confirmed and not self.is_lost:
            has_more |= self._claim(connection)
        self.pace = REST_SECONDS if self._may_rest else SWEEP_SECONDS
        if not has_more:
            self._wake_up.wait(max(0.0, self._swept_at + self.pace - time.monotonic()))

    def stay_awake(self) -> None:
        """Do not rest for a while: there is work, or may soon be."""
        self._awake_at = time.monotonic()

    @property
    def _may_rest(self) -> bool:
        is_at_work = self.is_ending or self.is_lost or not self._is_confirmed or self._freeing
        return not is_at_work and time.monotonic() - self._awake_at >= AWAKE_SECONDS and self.hears_wake_ups()

    def _sweep(self, connection: Connection) -> None:
        """Sweep when it is time; a claimer that was woken from rest looks for work first."""
        now = time.monotonic()
        if now - self._swept_at < self.pace:
            return
        self._swept_at = now
        if now - self.loop_ticked_at < LOOP_PATIENCE_SECONDS:
            self._be_seen(connection)
        if self.is_ending:
            return
        if not self._is_confirmed or now - self._database_looked_at + self.pace > DATABASE_SECONDS:
            self._look_at_database(connection)
        if self._is_confirmed:
            self._find_lost(connection)
            if self.sweep(connection):
                self.stay_awake()

    def _find_lost(self, connection: Connection) -> None:
        if not self._freeing:
            self._freeing, self._freed_to = self.runs.find_lost(connection, run=self.run), START
            if self._freeing:
                logger.warning("the leases of lost runs are taken over", extra={"runs": len(self._freeing)})

    def _let_go(self, connection: Connection) -> None:
        if not self._has_announced_end:
            self.runs.announce_end(connection, run=self.run)
            self._has_announced_end = True
            self.wake_others()
        self.let_go(connection)

    def _free_a_page(self, connection: Connection) -> bool:
        """Free what lost runs had leased, a page of the queue at a time; say whether there is more."""
        if not (self._freeing and self._is_confirmed):
            return False
        following = self.runs.free_a_page(connection, runs=self._freeing, after=self._freed_to)
        if following is None:
            self._freeing = []
            self.stay_awake()
            self.wake_others()
        else:
            self._freed_to = following
        return bool(self._freeing)

    def _be_seen(self, connection: Connection) -> None:
        asked_at = lease_clock()
        if self.runs.be_seen(connection, run=self.run):
            # An attempt that starts before this moment ends before the leases do.
            self._sure_until = asked_at + LEASE_SECONDS - self.longest_attempt_seconds
        else:
            self.is_lost = True

    def _look_at_database(self, connection: Connection) -> None:
        was_confirmed, self._is_confirmed = self._is_confirmed, is_confirmed(connection)
        self._database_looked_at = time.monotonic()
        if was_confirmed and not self._is_confirmed:
            logger.error("the database was restored: nothing is claimed until after_restore has run")

    def _claim(self, connection: Connection) -> bool:
        """Lease what the loop has room for; say whether there was more than that."""
        capacity = self.demand.ask()
        if capacity.busy:
            self.stay_awake()
        if capacity.batch <= 0:
            return False
        claimed = self.claim(connection, capacity)
        if claimed:
            self.stay_awake()
        self.found_nothing = not claimed
        return claimed >= capacity.batch

    def wake(self) -> None:
        self._wake_up.set()

    def wind_down(self) -> None:
        """Claim nothing more and let go; called by the loop, again whenever less is leased."""
        self.is_ending = True
        self.demand.close()
        self.wake()

    def finish(self) -> None:
        """Leave work. Called when everything is given back or recorded, as far as that is possible."""
        if self._has_begun:
            try:
                self.runs.end(self.connection, run=self.run)
            except psycopg.Error as error:
                logger.warning("the run could not be ended", extra={"fault": type(error).__name__})
