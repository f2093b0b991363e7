"""The thread that finds work: it leases rows when the loop wants them, and shows that the run is alive."""

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Generic, Protocol, TypeVar

import psycopg
import redis

from config.celery import wake_up_channel
from config.leases.connections import Connection, DatabaseThread
from config.leases.runs import LEASE_SECONDS, START, WorkerRuns
from config.recovery.identity import is_confirmed
from config.redis import connect

# This clock goes on while the machine sleeps, as the database's does. `time.monotonic` stops.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Return seconds by a clock that nobody sets. Where the system has such a clock, no sleep stops it."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
# At rest a claimer sweeps less often. It rests if it was not woken for a while, nothing is leased, and nothing is due
# soon. It rests only while it can hear wake-ups, and a lost one delays work by this time. This time must stay shorter
# than `GRACE_SECONDS` of `config.leases.runs`, because a run must be seen more often than that.
REST_SECONDS = 2.0
AWAKE_SECONDS = 5.0
# Work due within this time keeps a claimer from resting. It is longer than a rest and a sweep.
SOON_SECONDS = 3.0
# If the loop has not ticked for this long, the leases are left to expire.
LOOP_PATIENCE_SECONDS = 5.0
# The claimer checks this often that the database is still the one to work with. While it is unconfirmed, each sweep
# checks it.
DATABASE_SECONDS = 5.0


class Capacity(Protocol):
    """The loop's capacity: `batch` rows at most. `busy` are the keys (endpoints, channels) with leased rows."""

    @property
    def batch(self) -> int: ...

    @property
    def busy(self) -> Collection[int]: ...


CapacityT = TypeVar("CapacityT", bound=Capacity)


class Demand(Generic[CapacityT]):
    """The loop's demand for rows. The claimer asks, the loop answers, and an answer is good for one claim."""

    def __init__(self, *, nothing: CapacityT, wake: Callable[[], None]) -> None:
        self._nothing = self._capacity = nothing
        self._wake = wake
        self._answered = threading.Event()
        self.is_asked = False
        self._is_closed = False

    def ask(self) -> CapacityT:
        """Ask the loop. The claimer calls this.

        When the loop answers, it has all earlier batches.
        """
        self._answered.clear()
        if self._is_closed:
            return self._nothing
        self.is_asked = True
        self._wake()
        return self._capacity if self._answered.wait(SWEEP_SECONDS) else self._nothing

    def answer(self, capacity: CapacityT) -> None:
        """Answer the claimer. The loop calls this."""
        self.is_asked = False
        self._capacity = capacity
        self._answered.set()

    def close(self) -> None:
        """Answer no more. The loop calls this."""
        self._is_closed = True
        self.answer(self._nothing)


class Claimer(DatabaseThread, Generic[CapacityT]):
    """Subclasses say what new work is, what a sweep does, and how rows are claimed and passed on.

    The loop sets `loop_ticked_at` while it lives. `is_lost` says that other runs have declared this run lost. While a
    restored database is unconfirmed, nothing is claimed or freed. `pace` is the time in seconds from one sweep to the
    next. `hears_wake_ups` says whether others can wake this claimer; if they cannot, it never rests.
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
        self._freeing: list[int] = []  # lost runs whose leases are being freed
        self._freed_to = START

    def sweep(self, connection: Connection) -> bool:
        """Do the regular work; return whether something is due within `SOON_SECONDS`.

        It is called twice a second, or every `REST_SECONDS` at rest, whether or not somebody woke the claimer.
        """
        return False

    def wake_others(self) -> None:
        """Wake the other runs, because leases or shards may be theirs now."""

    def let_go(self, connection: Connection) -> None:
        """Release what this run would have claimed from. It is ending, and others can have it."""

    def claim(self, connection: Connection, capacity: CapacityT) -> int:
        """Lease rows and pass them on to the loop; return how many."""
        raise NotImplementedError

    @property
    def is_sure(self) -> bool:
        """Whether the leases last for an attempt that starts now. Any thread may ask, right before it starts one."""
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
        """Do not rest for a while, because there is work or may soon be."""
        self._awake_at = time.monotonic()

    @property
    def _may_rest(self) -> bool:
        is_at_work = self.is_ending or self.is_lost or not self._is_confirmed or self._freeing
        return not is_at_work and time.monotonic() - self._awake_at >= AWAKE_SECONDS and self.hears_wake_ups()

    def _sweep(self, connection: Connection) -> None:
        """Sweep if it is time. A claimer that was woken from rest looks for work first."""
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
        """Free the leases of lost runs, a page of the queue at a time; return whether there is more."""
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
        """Lease what the loop has room for; return whether there was more."""
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
        """Claim nothing more and let go. The loop calls this, and again whenever fewer rows are leased."""
        self.is_ending = True
        self.demand.close()
        self.wake()

    def finish(self) -> None:
        """End the run. Call it when everything is given back or recorded, as far as possible."""
        if self._has_begun:
            try:
                self.runs.end(self.connection, run=self.run)
            except psycopg.Error as error:
                logger.warning("the run could not be ended", extra={"fault": type(error).__name__})


# Without Redis the sweep alone goes on, and no claimer rests.

WAIT_SECONDS = 0.25
RECONNECT_SECONDS = 1.0


class WakeUpListener:
    """A thread that calls `on_wake_up` for every wake-up of this name.

    `is_listening` says whether it would hear one. When it stops listening, it calls `on_wake_up` as well.
    """

    LONGEST_WAIT_SECONDS = 2.0

    def __init__(self, name: str, on_wake_up: Callable[[], None]) -> None:
        self._channel = wake_up_channel(name)
        self._on_wake_up = on_wake_up
        self._stopping = threading.Event()
        self.is_listening = False
        self._redis = connect(timeout=self.LONGEST_WAIT_SECONDS, connect_timeout=1)
        self.thread = threading.Thread(target=self._run, name=f"{name}-wake-ups", daemon=True)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except redis.RedisError:
                self.is_listening = False
                self._on_wake_up()  # a resting claimer must look by itself from now on
                self._stopping.wait(RECONNECT_SECONDS)
        self._redis.close()

    def _listen(self) -> None:
        with self._redis.pubsub(ignore_subscribe_messages=True) as subscription:
            subscription.subscribe(self._channel)
            self.is_listening = True
            self._on_wake_up()  # for wake-ups that came before the subscription
            while not self._stopping.is_set():
                if subscription.get_message(timeout=WAIT_SECONDS):
                    self._on_wake_up()

    def stop(self) -> None:
        self._stopping.set()
