"""A scenario's workload: clients at work, volume beside them, and what a fault excuses."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.chaos.clients.calls import CallLog
from tests.chaos.clients.load import Load
from tests.chaos.excuses import Excuses
from tests.chaos.expectations import Expectations
from tests.chaos.feeder import Feeder
from tests.chaos.injections import Injections
from tests.chaos.receiver.arrivals import Arrivals
from tests.chaos.receiver.behaviour import Behaviour, is_delivered
from tests.chaos.receiver.server import Receiver
from tests.chaos.system.system import System
from tests.chaos.tenants import Tenants
from webhooks.models import Delivery, Endpoint

LONGEST_ATTEMPT_SECONDS = 11.0
# A fault counts only while the system is at work: it waits so long for that.
TRAFFIC_SECONDS = 60.0
LATELY_SECONDS = 2.0
TICK_SECONDS = 0.05


class Workload:
    """Everything of one scenario.

    `stack` is for what has to last until its end.
    """

    def __init__(
        self, system: System, behaviour: Behaviour, delay: float, rng: random.Random, stack: ExitStack
    ) -> None:
        self.system = system
        self.stack = stack
        self.rng = rng
        self.expectations = Expectations()
        self.arrivals = Arrivals(self.expectations, behaviour)
        self.receiver = Receiver(self.arrivals, delay)
        self.log = CallLog()
        self.injections = Injections()
        self.excuses = Excuses(self.arrivals, self.receiver, self.rest)
        self.notes: list[str] = []
        self.returns: list[tuple[float, str]] = []
        self.wrong: list[str] = []
        self.tenants: Tenants
        self.load: Load
        self.feeder: Feeder | None = None
        self.patience = 45.0
        self.ended_at = float("inf")

    @contextmanager
    def at_work(
        self, *, agencies: int = 4, clients: int = 2, rate: float = 6.0, volume: float = 300, most: int = 20_000
    ) -> Iterator[None]:
        """Subscribe agencies and let their clients work until the block ends. The web process must be there."""
        self.prepare()
        stopping = threading.Event()
        subscribed = [self.tenants.add() for _ in range(agencies)]
        found = [self.tenants.clients(one, clients, rate, self.rng, stopping) for one in subscribed]
        self.load = Load([client for group in found for client in group], stopping)
        pairs = [pair for one in subscribed for pair in one.bulk]
        self.feeder = Feeder(self.expectations, pairs, rate=volume, most=most) if volume else None
        self.remember_endpoints()
        with self.load.running():
            yield
            if not self.load.is_running:
                self.wrong.append("the load was over before the faults were")

    def prepare(self) -> None:
        self.tenants = Tenants(
            web=self.system.port, receiver=self.receiver.port, expectations=self.expectations, log=self.log
        )

    def remember_endpoints(self) -> None:
        """Look up which endpoint of the database is which."""
        paths = {path: subscriber.number for path, subscriber in self.expectations.subscribers.items()}
        rows = Endpoint.objects.values_list("pk", "url")
        self.excuses.numbers = {pk: paths[path] for pk, url in rows if (path := "/" + url.split("/", 3)[3]) in paths}

    # Time ---------------------------------------------------------------------------------------------

    def rest(self, seconds: float) -> None:
        """Let time pass: dead processes are started again, and volume is recorded."""
        until = time.monotonic() + seconds
        while True:
            self.system.processes.look_after()
            if self.feeder is not None and not self.load.stopping.is_set():
                self.feeder.feed(lambda: self.system.servers.postgres.is_running)
            if time.monotonic() >= until:
                return
            time.sleep(TICK_SECONDS)

    def has_traffic(self) -> bool:
        """Wait until deliveries arrive and one is under way; False where that does not come."""
        until = time.monotonic() + min(TRAFFIC_SECONDS, self.patience)
        while time.monotonic() < until:
            if self.load.is_running and self.arrivals.idle_seconds < LATELY_SECONDS and self.arrivals.is_busy:
                return True
            self.rest(TICK_SECONDS)
        self.wrong.append("nothing was under way when a fault was to come")
        return False

    def warm_up(self, seconds: float) -> None:
        """Wait until calls are answered and something arrives."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not (self.arrivals.moments and self.log.answered_since(0)):
            self.rest(TICK_SECONDS)

    def goes_on(self, since: float, seconds: float = 25.0) -> float:
        """Wait for an arrival and a call's success that are later than a moment; says how long they took to come."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            arrived = bool(self.arrivals.moments) and self.arrivals.moments[-1] > since
            if arrived and self.log.answered_since(since):
                break
            self.rest(TICK_SECONDS)
        return time.monotonic() - since

    # Excuses ------------------------------------------------------------------------------------------

    @contextmanager
    def excusing(self, *, overlap: bool = False, breaks_connections: bool = False) -> Iterator[None]:
        """Excuse what a fault makes come again (see `Excuses`).

        With `overlap` attempts from before the fault may still be under way while others take over.
        """
        if overlap:
            self.arrivals.overlap_until = float("inf")
        with self.excuses.of_a_fault(breaks_connections=breaks_connections):
            yield
            if overlap:
                self.arrivals.overlap_until = time.monotonic() + LONGEST_ATTEMPT_SECONDS

    # The end ------------------------------------------------------------------------------------------

    def missing(self) -> set[tuple[int, str]]:
        """What is expected for certain and has not come, by endpoint and subject."""
        came = {
            (endpoint, arrival.key)
            for (endpoint, _), arrival in self.arrivals.found.copy().items()
            if arrival.successes or (not is_delivered(arrival.script) and len(arrival.came_at) >= 3)
        }
        return {
            (number, one.key.subject)
            for one in self.expectations.all()
            if one.is_certain
            for number in one.endpoints
            if (number, one.key) not in came
        }

    def wait(self) -> None:
        """Wait for the last delivery and its record; what has not come when nothing moves any more is lost."""
        self.load.stop()
        self.ended_at = min(self.ended_at, time.monotonic())
        began = time.monotonic()
        while self.missing() or self._pending():
            if min(self.arrivals.idle_seconds, time.monotonic() - began) > self.patience:
                return
            self.rest(0.3)

    def _pending(self) -> bool:
        return Delivery.objects.filter(endpoint_id__in=self.excuses.numbers, status="pending").exists()
