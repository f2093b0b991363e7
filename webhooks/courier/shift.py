"""A shift of the courier: one event loop that sends what the clerk leases, until it is told to stop."""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from django.conf import settings

from config.db import UnreadableSecret
from webhooks.courier.bell import BellWatch
from webhooks.courier.clerk import CLAIM_BATCH, Clerk, Demand, Recorder
from webhooks.courier.lanes import IN_HAND, Lanes
from webhooks.courier.letters import headers, open_secret
from webhooks.courier.rows import Leased
from webhooks.courier.verdicts import Landed, refused
from webhooks.transport.client import Sender
from webhooks.transport.exchange import Request, Result
from webhooks.transport.guard import TargetRefused, judge
from webhooks.transport.lookups import LookupFailed
from webhooks.transport.outcomes import BLOCKED_ADDRESS, DNS, FAILED
from webhooks.transport.resolver import Resolver
from webhooks.transport.targets import Target, parse_target

logger = logging.getLogger(__name__)

SHIFT_SECONDS = 1_800.0
TICK_SECONDS = 0.25
LANDING_SECONDS = 11.0


class Courier:
    """Sends from one thread; the clerk and the recorder work beside it."""

    def __init__(self) -> None:
        self.owner = random.SystemRandom().randrange(1, 2**31)
        self.lanes = Lanes()
        self.demand = Demand()
        self.inbox: deque[list[Leased]] = deque()
        self.judged: deque[tuple[Leased, Target, float, Future[tuple[str, ...]]]] = deque()
        self.sender = Sender(ca_file=settings.WEBHOOK_CA_FILE or None)
        self.resolver = Resolver(ttl_s=1.0)
        self.flying: dict[int, tuple[Leased, dict[str, str], float]] = {}
        self.clerk = Clerk(self.owner, self.demand, self._receive)
        self.recorder = Recorder(self.owner)
        self.bell = BellWatch(self.clerk.bell.set)
        self.sent = 0
        self._dropped_at = 0.0

    def run(self, *, should_stop: Callable[[], bool], seconds: float = SHIFT_SECONDS) -> int:
        """Work until told to stop or the shift is over; says how many attempts were made."""
        threads = [self.clerk.thread, self.recorder.thread, self.bell.thread]
        for thread in threads:
            thread.start()
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until and not should_stop():
                self._round(TICK_SECONDS)
        finally:
            self._end(threads)
        return self.sent

    def _receive(self, leased: list[Leased]) -> None:
        """Called by the clerk."""
        self.inbox.append(leased)
        self.sender.wake()

    def _round(self, timeout: float) -> None:
        while self.inbox:
            self.lanes.add(self.inbox.popleft())
        for row in self.lanes.take():
            self._depart(row)
        while self.judged:
            self._send_resolved(*self.judged.popleft())
        for result in self.sender.poll(timeout):
            self._land(result)
        self._drop_late()
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        wanted = IN_HAND - self.lanes.in_hand
        self.demand.room = self.lanes.room()
        self.demand.full = self.lanes.full_agencies()
        was, self.demand.total = self.demand.total, wanted if wanted >= CLAIM_BATCH // 4 else 0
        if not self.inbox:
            self.demand.is_fresh.set()
        if self.demand.total and not was:
            self.clerk.bell.set()

    def _drop_late(self) -> None:
        if time.monotonic() - self._dropped_at > TICK_SECONDS:
            self._dropped_at = time.monotonic()
            for row in self.lanes.drop_late():
                self.recorder.done.put(row)

    # One delivery ---------------------------------------------------------------------------------------

    def _depart(self, row: Leased) -> None:
        """Judge the URL anew and send; a name is looked up beside the loop."""
        try:
            target = parse_target(row.url)
        except TargetRefused:
            self._refuse(row, BLOCKED_ADDRESS)
            return
        if target.address is not None:
            self._send(row, target, (target.address,), 0.0)
            return
        answer = self.resolver.submit(target.host)
        asked_at = time.monotonic()
        if answer.done():
            self._send_resolved(row, target, asked_at, answer)
        else:
            answer.add_done_callback(partial(self._note_answer, row, target, asked_at))

    def _note_answer(self, row: Leased, target: Target, asked_at: float, answer: "Future[tuple[str, ...]]") -> None:
        """Called by a thread of the resolver."""
        self.judged.append((row, target, asked_at, answer))
        self.sender.wake()

    def _send_resolved(self, row: Leased, target: Target, asked_at: float, answer: "Future[tuple[str, ...]]") -> None:
        try:
            addresses = answer.result(timeout=0)
        except LookupFailed:
            self._refuse(row, DNS)
            return
        self._send(row, target, addresses, (time.monotonic() - asked_at) * 1000)

    def _send(self, row: Leased, target: Target, addresses: tuple[str, ...], dns_ms: float) -> None:
        try:
            vetted = judge(target, addresses, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
            secret = open_secret(bytes(row.secret)) if row.secret is not None else None
            sent = headers(event=row.event, envelope_id=row.envelope_id, body=row.body, secret=secret)
            self.sender.submit(Request(row.id, vetted, tuple(sent.items()), row.body, dns_ms))
        except TargetRefused:
            self._refuse(row, BLOCKED_ADDRESS)
        except (UnreadableSecret, ValueError) as error:
            logger.error("a delivery cannot be sent", extra={"delivery": row.id, "fault": type(error).__name__})
            self._refuse(row, FAILED)
        else:
            self.flying[row.id] = (row, sent, time.monotonic())

    def _refuse(self, row: Leased, error: str) -> None:
        self.lanes.land(row, 0.0)
        self.recorder.done.put(refused(row, error))

    def _land(self, result: Result) -> None:
        row, sent, departed_at = self.flying.pop(result.key)
        self.sent += 1
        self.lanes.land(row, time.monotonic() - departed_at)
        self.recorder.done.put(Landed(row, result, sent))

    # The end --------------------------------------------------------------------------------------------

    def _end(self, threads: list[threading.Thread]) -> None:
        """Give back what has not departed, wait for what flies, and write everything down."""
        self.clerk.stopping.set()
        self.clerk.bell.set()
        self.bell.stop()
        self.clerk.thread.join(5)
        while self.inbox:
            self.lanes.add(self.inbox.popleft())
        for row in self.lanes.drop_all():
            self.recorder.done.put(row)
        until = time.monotonic() + LANDING_SECONDS
        while self.lanes.flying and time.monotonic() < until:
            while self.judged:
                self._send_resolved(*self.judged.popleft())
            for result in self.sender.poll(TICK_SECONDS):
                self._land(result)
        self.recorder.stopping.set()
        self.recorder.done.put(None)
        for thread in threads:
            thread.join(6)
        self.sender.close()
        self.resolver.close()
