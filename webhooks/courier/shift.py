"""A shift of the courier: one event loop that sends what the clerk leases, until it is told to stop."""

import logging
import random
import time
from collections import deque
from collections.abc import Callable

from django.conf import settings

from webhooks.courier.bell import BellWatch
from webhooks.courier.clerk import Clerk, Demand
from webhooks.courier.departures import Departures
from webhooks.courier.desk import REST_AFTER_FAULT_SECONDS
from webhooks.courier.garbage import rare_collections
from webhooks.courier.lanes import FIRST_CLAIM, IN_HAND, PATIENCE_SECONDS, SLOW_SECONDS, Lanes
from webhooks.courier.receivers import Receiver
from webhooks.courier.recorder import Recorder
from webhooks.courier.rows import Card, Leased, Wants
from webhooks.transport.client import Sender

logger = logging.getLogger(__name__)

SHIFT_SECONDS = 3_600.0
TICK_SECONDS = 0.25
SHORT_SECONDS = 0.005
LANDING_SECONDS = 11.0
CLAIM_BATCH = 1_000
# When to ask the clerk for more: after so many landings, or so much time with any.
LANDINGS_PER_CLAIM = 500
CLAIM_EVERY_SECONDS = 0.04
CLAIM_IN_VAIN_EVERY_SECONDS = 0.1
# Attempts that ended and are not written down yet would be repeated after a crash.
MOST_UNWRITTEN = 1_000


def work(*, should_stop: Callable[[], bool], seconds: float = SHIFT_SECONDS) -> None:
    """Work shift after shift for so long: a new one begins where the database failed or others took over.

    So a courier needs neither beat nor Redis to go on.
    """
    until = time.monotonic() + seconds
    while True:
        courier = Courier()
        courier.run(should_stop=should_stop, seconds=until - time.monotonic())
        if should_stop() or time.monotonic() > until or courier.has_broken:
            return
        time.sleep(REST_AFTER_FAULT_SECONDS)


class Courier:
    """One shift. Sends from one thread; the clerk, the recorder and the bell have threads of their own."""

    def __init__(self) -> None:
        self.number = random.SystemRandom().randrange(1, 2**31)
        self.lanes = Lanes()
        self.sender = Sender(ca_file=settings.WEBHOOK_CA_FILE or None)
        self.demand = Demand(self.sender.wake)
        self.inbox: deque[tuple[list[Leased], list[Card]]] = deque()
        self.receivers: dict[int, Receiver] = {}
        self.clerk = Clerk(self.number, self.demand, self._receive)
        self.recorder = Recorder(self.number)
        self.departures = Departures(self.lanes, self.sender, self.recorder)
        self.bell = BellWatch(self.clerk.bell.set)
        self._landings_told = 0
        self._asked_at = 0.0
        self._ticked_at = 0.0

    @property
    def sent(self) -> int:
        """How many attempts were made."""
        return self.departures.landed

    def run(self, *, should_stop: Callable[[], bool], seconds: float = SHIFT_SECONDS) -> int:
        """Work until told to stop, or for so long and until nothing is in hand; says how many attempts were made.

        A fault of the database ends the shift: whether its last claim or record was committed cannot be told, so it
        takes nothing more, and the next shift begins with what the database says.
        """
        with rare_collections():
            self._work(should_stop, until=time.monotonic() + seconds)
        return self.sent

    def _work(self, should_stop: Callable[[], bool], *, until: float) -> None:
        for desk in (self.clerk, self.recorder, self.bell):
            desk.thread.start()
        try:
            while not should_stop() and self._can_work:
                if time.monotonic() > until and not self.lanes.in_hand:
                    break
                self._round()
            self._settle(should_stop)
        finally:
            self._end()

    @property
    def has_broken(self) -> bool:
        """Whether a fault of ours ended the shift."""
        return self.clerk.has_broken or self.recorder.has_broken

    @property
    def _can_record(self) -> bool:
        """Whether the shift's leases hold and nothing has broken."""
        return not self.clerk.is_lost and not self.has_broken

    @property
    def _can_work(self) -> bool:
        return self._can_record and not self.clerk.had_fault and not self.recorder.had_fault

    def _receive(self, leased: list[Leased], cards: list[Card]) -> None:
        """Called by the clerk."""
        self.inbox.append((leased, cards))
        self.sender.wake()

    def _round(self) -> None:
        self._open_inbox()
        is_held = not self.clerk.is_sure or self.recorder.backlog >= MOST_UNWRITTEN
        if not is_held:
            for row in self.lanes.take():
                self.departures.depart(row, self.receivers[row.endpoint_id])
        if self.demand.is_asked and not self.inbox:
            self._tell(time.monotonic())
        self.departures.go_on(self._leisure(is_held=is_held))
        now = time.monotonic()
        if now - self._ticked_at >= TICK_SECONDS:
            self._tick(now)
        if self.lanes.landings > self._landings_told and not self.demand.is_asked:
            self._call_clerk(now)

    def _leisure(self, *, is_held: bool) -> float:
        """How long the loop may wait for receivers; none while the clerk waits for it, whose ring may be used up."""
        if self.demand.is_asked:
            return 0.0
        return SHORT_SECONDS if is_held or self.lanes.landings > self._landings_told else TICK_SECONDS

    def _open_inbox(self) -> None:
        while self.inbox:
            leased, cards = self.inbox.popleft()
            for card in cards:
                known = self.receivers.get(card.endpoint_id)
                if known is None or not known.is_as(card):
                    self.receivers[card.endpoint_id] = Receiver(card, settings.WEBHOOK_ALLOWED_NETWORKS)
                if card.succeeded_last:
                    self.lanes.known.add(card.endpoint_id)
            self.lanes.add(leased)

    def _tick(self, now: float) -> None:
        self._ticked_at = self.clerk.loop_ticked_at = now
        self.departures.note_slow(before=now - SLOW_SECONDS)
        self.recorder.note(unused=self.lanes.drop_waiting(longer_than=PATIENCE_SECONDS))
        self.lanes.forget_idle()

    def _tell(self, now: float) -> None:
        """Answer the clerk what there is room for."""
        self._landings_told, self._asked_at = self.lanes.landings, now
        held, full = self.lanes.agencies_in_hand()
        batch = min(CLAIM_BATCH, IN_HAND - self.lanes.in_hand) if self.clerk.is_sure else 0
        self.demand.tell(Wants(batch, FIRST_CLAIM, self.lanes.rooms(), full, held, self.lanes.suspects))

    def _call_clerk(self, now: float) -> None:
        """Ring for the clerk when enough has landed since it asked last."""
        landings = self.lanes.landings - self._landings_told
        every = CLAIM_IN_VAIN_EVERY_SECONDS if self.clerk.found_nothing else CLAIM_EVERY_SECONDS
        if landings >= min(LANDINGS_PER_CLAIM, self.lanes.in_hand) or now - self._asked_at >= every:
            self._landings_told, self._asked_at = self.lanes.landings, now
            self.clerk.bell.set()

    def _settle(self, should_stop: Callable[[], bool]) -> None:
        """Wait until everything is written down, however long the database is away, unless that is in vain."""
        while not should_stop() and self._can_record and (self.lanes.in_hand or self.recorder.has_work):
            self._land()

    def _land(self) -> None:
        """Take and send nothing more, give back what has not departed, and let go on what flies."""
        self.demand.close()
        self._open_inbox()
        self.recorder.note(unused=self.lanes.drop_waiting())
        self.clerk.loop_ticked_at = time.monotonic()
        self.departures.go_on(TICK_SECONDS if self.lanes.flying else SHORT_SECONDS)

    def _end(self) -> None:
        """Wait for what flies, write everything down, and leave work.

        A claim that the clerk is just making is free again when the shift ends.
        """
        self.bell.stop()
        until = time.monotonic() + LANDING_SECONDS
        self._land()
        while self.lanes.flying and time.monotonic() < until:
            self._land()
        self.recorder.close()
        self.clerk.close()
        self.bell.thread.join(BellWatch.LONGEST_WAIT_SECONDS)
        self.departures.close()
        self.sender.close()
