"""A run of the dispatcher: one event loop that sends leased deliveries until it must stop."""

import random
import time
from collections import deque
from collections.abc import Callable
from threading import Thread

from django.conf import settings

from agency.services.events import DISPATCHER
from config.celery import wake_up_now
from config.garbage_collection import rare_collections
from config.http.client import HTTPClient
from config.leases.claimer import Demand, WakeUpListener
from config.leases.connections import REST_AFTER_FAULT_SECONDS
from webhooks.dispatcher.attempts import AttemptsInFlight, Destination
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.dispatcher.fan_out import FanOut
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity, EndpointSnapshot, LeasedDelivery
from webhooks.dispatcher.queues import FIRST_CLAIM, MOST_LEASED, PATIENCE_SECONDS, SLOW_SECONDS, EndpointQueues
from webhooks.dispatcher.recorder import DeliveryRecorder

RUN_SECONDS = 3_600.0
TICK_SECONDS = 0.25
SHORT_SECONDS = 0.005
LAST_ATTEMPTS_SECONDS = 11.0
# The most runs of one process that only wait for their attempts in flight.
MOST_ENDING = 4
CLAIM_BATCH = 300
# Wake the claimer after so many ended attempts, or after so much time if any attempt has ended.
ATTEMPTS_PER_CLAIM = 250
CLAIM_EVERY_SECONDS = 0.04
CLAIM_IN_VAIN_EVERY_SECONDS = 0.1
# Ended attempts that are not recorded yet would be repeated after a crash, so their number is limited.
MOST_UNWRITTEN = 1_000


def run_dispatcher(*, should_stop: Callable[[], bool], seconds: float = RUN_SECONDS) -> None:
    """Work one run after another for so many seconds. Return when all runs have ended.

    A new run begins after a fault of the database, or after others took the run for lost. So a dispatcher goes on
    without beat and Redis.
    """
    until = time.monotonic() + seconds
    ending: list[Thread] = []
    with rare_collections():
        while (dispatcher := _work(should_stop, until)) is not None:
            # The old run's attempts in flight may take ten seconds more. The next run does not wait for them.
            ending = [thread for thread in ending if thread.is_alive()]
            if len(ending) == MOST_ENDING:
                ending.pop(0).join()
            ending.append(Thread(target=dispatcher.end, args=(should_stop,), name=f"dispatcher {dispatcher.number}"))
            ending[-1].start()
            time.sleep(REST_AFTER_FAULT_SECONDS)
        for thread in ending:
            thread.join()


def _work(should_stop: Callable[[], bool], until: float) -> "Dispatcher | None":
    """Work one run. Return it without ending it if another run must follow, else end it and return None."""
    dispatcher = Dispatcher()
    is_followed = False
    try:
        dispatcher.work(should_stop, until=until)
        is_followed = not (should_stop() or time.monotonic() > until or dispatcher.has_crashed)
    finally:
        if not is_followed:
            dispatcher.end(should_stop)
    return dispatcher if is_followed else None


class Dispatcher:
    """One run. One thread sends; the claimer, the fan-out, the recorder and the listener have their own threads."""

    def __init__(self) -> None:
        self.number = random.SystemRandom().randrange(1, 2**31)
        self.queues = EndpointQueues()
        self.sender = HTTPClient(ca_file=settings.WEBHOOK_CA_FILE or None, may_write=lambda: self.claimer.is_sure)
        self.demand = Demand(nothing=NO_CAPACITY, wake=self.sender.wake)
        self.inbox: deque[tuple[list[LeasedDelivery], list[EndpointSnapshot]]] = deque()
        self.destinations: dict[int, Destination] = {}
        self.claimer = DeliveryClaimer(self.number, self.demand, self._receive, self._wake_fan_out)
        self.recorder = DeliveryRecorder(self.number)
        self.attempts = AttemptsInFlight(self.queues, self.sender, self.recorder)
        self.fan_out = FanOut(
            self.number, self.claimer.shards, self._wake_for_new_deliveries, pace=lambda: self.claimer.pace
        )
        self.listener = WakeUpListener(DISPATCHER, self._wake)
        self.claimer.hears_wake_ups = lambda: self.listener.is_listening
        self._finished_at_claim = 0
        self._asked_at = 0.0
        self._ticked_at = 0.0

    @property
    def sent(self) -> int:
        """The number of attempts that were made."""
        return self.attempts.finished

    def run(self, *, should_stop: Callable[[], bool], seconds: float = RUN_SECONDS) -> int:
        """Work until `should_stop`, or for so many seconds and until nothing is leased. Return the number of attempts.

        A fault of the database ends the run, because it cannot know whether its last claim or record was committed. The
        next run starts from the database's state.
        """
        with rare_collections():
            try:
                self.work(should_stop, until=time.monotonic() + seconds)
            finally:
                self.end(should_stop)
        return self.sent

    def work(self, should_stop: Callable[[], bool], *, until: float) -> None:
        """Send until the time `until`, and on while anything is leased, unless something ends the run."""
        for one in (self.claimer, self.fan_out, self.recorder, self.listener):
            one.thread.start()
        while not should_stop() and self._can_work:
            if time.monotonic() > until and not self.queues.leased:
                break
            self._round()

    def end(self, should_stop: Callable[[], bool]) -> None:
        """Finish the attempts in flight, record everything and end the run. Another thread may call this."""
        self.listener.stop()
        self.fan_out.stopping.set()
        try:
            self._settle(should_stop)
        finally:
            self._end()

    @property
    def has_crashed(self) -> bool:
        """Whether a crash in our own code ended the run."""
        return self.claimer.has_crashed or self.fan_out.has_crashed or self.recorder.has_crashed

    @property
    def _can_record(self) -> bool:
        """Whether the run's leases are valid and nothing has crashed."""
        return not self.claimer.is_lost and not self.has_crashed

    @property
    def _can_work(self) -> bool:
        return self._can_record and not self.claimer.had_fault and not self.recorder.had_fault

    def _wake(self) -> None:
        """Wake the fan-out and the claimer. The listener's thread calls this."""
        self.fan_out.wake()
        self.claimer.wake()

    def _wake_fan_out(self) -> None:
        """Wake the fan-out. The claimer's thread calls this when its shards have changed."""
        self.fan_out.wake()

    def _wake_for_new_deliveries(self) -> None:
        """Wake the claimers. The fan-out's thread calls this; new deliveries may be in other dispatchers' shards."""
        self.claimer.wake()
        if not self.claimer.shards.is_all:
            wake_up_now(DISPATCHER)

    def _receive(self, leased: list[LeasedDelivery], snapshots: list[EndpointSnapshot]) -> None:
        """Accept leased deliveries and endpoints. The claimer's thread calls this."""
        self.inbox.append((leased, snapshots))
        self.sender.wake()

    def _round(self) -> None:
        self._open_inbox()
        is_held = not self.claimer.is_sure or self.recorder.backlog >= MOST_UNWRITTEN
        if not is_held:
            for row in self.queues.take():
                self.attempts.start(row, self.destinations.get(row.endpoint_id))
        if self.demand.is_asked and not self.inbox:
            self._answer_claimer(time.monotonic())
        self.attempts.poll(self._wait_seconds(is_held=is_held))
        now = time.monotonic()
        if now - self._ticked_at >= TICK_SECONDS:
            self._tick(now)
        if self.queues.finished > self._finished_at_claim and not self.demand.is_asked:
            self._wake_claimer(now)

    def _wait_seconds(self, *, is_held: bool) -> float:
        """Return how long to wait for receivers. Do not wait while the claimer waits, as its wake-up may be used up."""
        if self.demand.is_asked:
            return 0.0
        return SHORT_SECONDS if is_held or self.queues.finished > self._finished_at_claim else TICK_SECONDS

    def _open_inbox(self) -> None:
        while self.inbox:
            leased, snapshots = self.inbox.popleft()
            for snapshot in snapshots:
                known = self.destinations.get(snapshot.endpoint_id)
                if known is None or not known.matches(snapshot):
                    self.destinations[snapshot.endpoint_id] = Destination(snapshot, settings.WEBHOOK_ALLOWED_NETWORKS)
                if snapshot.succeeded_last:
                    self.queues.known.add(snapshot.endpoint_id)
            self.queues.add(leased)

    def _tick(self, now: float) -> None:
        self._ticked_at = self.claimer.loop_ticked_at = now
        self.attempts.mark_slow(before=now - SLOW_SECONDS)
        self.recorder.add(unused=self.queues.drop_waiting(longer_than=PATIENCE_SECONDS))
        self.queues.forget_idle()

    def _answer_claimer(self, now: float) -> None:
        """Tell the claimer the free capacity."""
        self._finished_at_claim, self._asked_at = self.queues.finished, now
        full = self.queues.full_tenants()
        batch = min(CLAIM_BATCH, MOST_LEASED - self.queues.leased) if self.claimer.is_sure else 0
        self.demand.answer(
            Capacity(
                batch=batch,
                first=FIRST_CLAIM,
                rooms=self.queues.rooms(),
                busy=self.queues.busy(),
                slow=self.queues.slow(),
                full_agencies=full.full_agencies,
                full_tenants=full.full_tenants,
                suspects=self.queues.suspects,
            )
        )

    def _wake_claimer(self, now: float) -> None:
        """Wake the claimer if enough attempts have ended since it last asked."""
        finished = self.queues.finished - self._finished_at_claim
        every = CLAIM_IN_VAIN_EVERY_SECONDS if self.claimer.found_nothing else CLAIM_EVERY_SECONDS
        if finished >= min(ATTEMPTS_PER_CLAIM, self.queues.leased) or now - self._asked_at >= every:
            self._finished_at_claim, self._asked_at = self.queues.finished, now
            self.claimer.wake()

    def _settle(self, should_stop: Callable[[], bool]) -> None:
        """Wait until everything is recorded, however long the database is away, unless the run can no longer record."""
        while not should_stop() and self._can_record and (self.queues.leased or self.recorder.has_work):
            self._wind_down()

    def _wind_down(self) -> None:
        """Start nothing more, give back unsent deliveries, and continue the attempts in flight."""
        self._open_inbox()
        self.recorder.add(unused=self.queues.drop_waiting())
        self.claimer.release_shards_except(self.queues.busy())
        self.claimer.loop_ticked_at = time.monotonic()
        self.attempts.poll(TICK_SECONDS if self.queues.in_flight else SHORT_SECONDS)

    def _end(self) -> None:
        """Wait for the attempts in flight, record everything and close all threads.

        Leases of a claim that is just being made are freed when the run ends.
        """
        until = time.monotonic() + LAST_ATTEMPTS_SECONDS
        self._wind_down()
        while self.queues.in_flight and time.monotonic() < until:
            self._wind_down()
        self.recorder.close()
        self.fan_out.close()
        self.claimer.close()
        self.listener.thread.join(WakeUpListener.LONGEST_WAIT_SECONDS)
        self.attempts.close()
        self.sender.close()
