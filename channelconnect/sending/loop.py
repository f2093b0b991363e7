"""A run of the sender: one event loop that calls the provider for claimed messages, until it is asked to stop."""

import random
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from channelconnect.providers.settings import provider_settings
from channelconnect.sending.calls import CALL_LIMITS, MOMENT_SECONDS, CallsInFlight
from channelconnect.sending.channels import ChannelSnapshot, KnownChannels
from channelconnect.sending.claimer import NO_ROOM, MessageClaimer, SendingCapacity
from channelconnect.sending.limits import RATES, SendingLimits
from channelconnect.sending.recorder import MessageRecorder
from channelconnect.sending.sources import ClaimedMessage, MessageSource, is_urgent, message_sources
from config.garbage_collection import rare_collections
from config.http.client import HTTPClient
from config.leases.claimer import Demand, WakeUpListener
from config.leases.connections import REST_AFTER_FAULT_SECONDS
from workspaces.conversations.services.sending import SENDER

RUN_SECONDS = 3_600.0
TICK_SECONDS = 0.25
SHORT_SECONDS = 0.005
CLAIM_BATCH = 1_000
# Claims are few and large. The next comes after this time, or once this many calls have ended.
CLAIM_EVERY_SECONDS = 0.05
CLAIM_AFTER_CALLS = 256
# Nothing more is claimed once this many claimed messages wait for their calls.
MOST_WAITING = 512
LAST_CALLS_SECONDS = 16.0
# Calls that have ended and are not recorded yet would become unknown in a crash.
MOST_UNRECORDED = 2_000


def run_sender(*, should_stop: Callable[[], bool], seconds: float = RUN_SECONDS) -> None:
    """Run senders one after the other for this long. A new run begins after a database fault or a takeover."""
    until = time.monotonic() + seconds
    while not should_stop() and time.monotonic() < until:
        run = SenderLoop()
        run.run(should_stop=should_stop, seconds=max(0.0, until - time.monotonic()))
        if run.has_crashed:
            return
        time.sleep(REST_AFTER_FAULT_SECONDS)


class SenderLoop:
    """One run. One thread makes the calls; the claimer, the recorder and the listener each have a thread."""

    def __init__(
        self, *, sources: Sequence[MessageSource] | None = None, rates: Mapping[str, float] | None = RATES
    ) -> None:
        chosen = list(message_sources if sources is None else sources)
        self.number = random.SystemRandom().randrange(1, 2**31)
        self.http = HTTPClient(limits=CALL_LIMITS, may_write=lambda: self.claimer.is_sure)
        self.limits = SendingLimits(rates=rates)
        self.channels = KnownChannels()
        self.demand = Demand(nothing=NO_ROOM, wake=self.http.wake)
        self.inbox: deque[tuple[Sequence[ClaimedMessage], list[ChannelSnapshot] | None]] = deque()
        self.claimer = MessageClaimer(self.number, chosen, self.demand, self._receive, self.limits.brakes)
        by_name = {source.name: source for source in chosen}
        self.recorder = MessageRecorder(self.number, by_name, self.claimer.look_again)
        urgent = frozenset(source.name for source in chosen if is_urgent(source))
        self.calls = CallsInFlight(provider_settings(), self.http, self.channels, self.limits, self.recorder, urgent)
        self.listener = WakeUpListener(SENDER, self.claimer.look_again)
        self.claimer.hears_wake_ups = lambda: self.listener.is_listening
        self._asked_at = self._ticked_at = 0.0
        self._asked_after = 0
        self._can_start_more = False

    def run(self, *, should_stop: Callable[[], bool], seconds: float = RUN_SECONDS) -> int:
        """Work until asked to stop, or for this many seconds. Returns how many calls were made.

        A fault of the database ends the run, because its last claim may or may not be committed. The run claims nothing
        more. Messages that it has claimed and not called stay claimed, and the next run makes them unknown.
        """
        until = time.monotonic() + seconds
        with rare_collections():
            try:
                for one in (self.claimer, self.recorder, self.listener):
                    one.thread.start()
                while not should_stop() and self._can_work and time.monotonic() < until:
                    self._round()
            finally:
                self._end()
        return self.calls.finished

    @property
    def has_crashed(self) -> bool:
        """Whether a fault of our own ended the run."""
        return self.claimer.has_crashed or self.recorder.has_crashed

    @property
    def _can_work(self) -> bool:
        has_fault = self.claimer.had_fault or self.recorder.had_fault
        return not (self.has_crashed or has_fault or self.claimer.is_lost)

    def _receive(self, claimed: Sequence[ClaimedMessage], channels: list[ChannelSnapshot] | None) -> None:
        """Receive claimed messages; the claimer's thread calls it."""
        self.inbox.append((claimed, channels))
        self.http.wake()

    def _round(self) -> None:
        self._open_inbox()
        may_start = self.claimer.is_sure and self.recorder.backlog < MOST_UNRECORDED
        self._can_start_more = may_start and self.calls.start_waiting()
        now = time.monotonic()
        if self.demand.is_asked and not self.inbox:
            self._answer_claimer(now)
        self.calls.poll(self._wait_seconds())
        now = time.monotonic()
        if now - self._ticked_at >= TICK_SECONDS:
            self._tick(now)
        if self.claimer.has_more and not self.demand.is_asked and self._is_time_to_claim(now):
            self._claim_again(now)

    def _is_time_to_claim(self, now: float) -> bool:
        return (
            now - self._asked_at >= CLAIM_EVERY_SECONDS or self.calls.finished - self._asked_after >= CLAIM_AFTER_CALLS
        )

    def _claim_again(self, now: float) -> None:
        self._asked_at, self._asked_after = now, self.calls.finished
        self.claimer.wake()

    def _wait_seconds(self) -> float:
        """Return how long to wait for the provider; 0 while the claimer waits, because its wake-up may be used up.

        If there is more to claim, the next claim comes after this time at the latest; an answer ends the wait.
        """
        if self.demand.is_asked:
            return 0.0
        if self._can_start_more:
            return 0.0 if self.calls.room > 0 else MOMENT_SECONDS
        if self.calls.waiting:
            return SHORT_SECONDS
        if self.claimer.has_more:
            return max(0.0, self._asked_at + CLAIM_EVERY_SECONDS - time.monotonic())
        return TICK_SECONDS

    def _open_inbox(self) -> None:
        while self.inbox:
            claimed, channels = self.inbox.popleft()
            if channels is None:
                self.recorder.add(unused=claimed)
                continue
            self.channels.take(channels)
            self.calls.add(claimed)

    def _tick(self, now: float) -> None:
        self._ticked_at = self.claimer.loop_ticked_at = now
        self.calls.mark_slow()
        self.limits.tick()

    def _answer_claimer(self, now: float) -> None:
        """Tell the claimer how much it may claim. Messages claimed earlier already count as calls."""
        self._asked_at, self._asked_after = now, self.calls.finished
        is_ready = self.claimer.is_sure and self.recorder.backlog < MOST_UNRECORDED
        waiting = self.calls.waiting
        urgent, bulk = (
            self.limits.batch(CLAIM_BATCH, is_urgent=one) if is_ready and waiting < MOST_WAITING else 0
            for one in (True, False)
        )
        self.demand.answer(SendingCapacity(urgent, bulk, self.limits, tuple(self.limits.calls)))

    def _wind_down(self) -> None:
        """Claim and call nothing more, give back messages that were not called, and let the calls in flight go on."""
        self._open_inbox()
        self.recorder.add(unused=self.calls.drop_waiting())
        self.claimer.release_shards_except(self.limits.calls)
        self.claimer.loop_ticked_at = time.monotonic()
        self.calls.poll(TICK_SECONDS if self.calls.in_flight else SHORT_SECONDS)

    def _end(self) -> None:
        """Wait for calls in flight, record everything, and stop.

        A claim that the claimer was making is given back too, because the claimer stops only after it.
        """
        self.listener.stop()
        until = time.monotonic() + LAST_CALLS_SECONDS
        self._wind_down()
        while self._has_left and time.monotonic() < until:
            self._wind_down()
        self._open_inbox()
        self.recorder.add(unused=self.calls.drop_waiting())
        self.recorder.close()
        self.claimer.close()
        self.listener.thread.join(WakeUpListener.LONGEST_WAIT_SECONDS)
        self.calls.close()
        self.http.close()

    @property
    def _has_left(self) -> bool:
        """Whether calls are in flight, or the claimer may still be making a claim."""
        may_claim = not (self.claimer.has_let_go or self.claimer.is_lost or self.claimer.had_fault)
        return bool(self.calls.in_flight) or (may_claim and self.claimer.thread.is_alive())
