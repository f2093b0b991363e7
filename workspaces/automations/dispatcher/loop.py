"""A run of the dispatcher of outside calls: one loop that claims, calls and records, until it is asked to stop."""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Final, NamedTuple

from django.conf import settings
from django.db import OperationalError, connection

from config.garbage_collection import rare_collections
from config.http.client import HTTPClient
from config.http.guard import Target, URLRefused, VettedTarget, check_addresses, check_without_lookup, parse_target
from config.http.resolver import Addresses, LookupFailed, Resolver
from config.http.transfer import Limits, Request, Result
from config.leases.claimer import WakeUpListener
from config.metrics import count, observe
from config.postgresql.concurrency import retry_on_conflict
from config.recovery.identity import is_confirmed
from workspaces.automations.dispatcher.claiming import Claim, claim_calls
from workspaces.automations.dispatcher.preparing import AI_MS, PreparedCall, refused, result_of
from workspaces.automations.providers.ai import MOST_ANSWER_BYTES
from workspaces.automations.services.outside_calls import OUTSIDE_CALLS, CallResult, record_results

logger = logging.getLogger(__name__)

# A process has so many calls in flight at most.
MOST_IN_FLIGHT: Final = 512
# Without a wake-up the loop looks for calls this often: some are due later, and wake-ups may be lost.
LOOK_SECONDS: Final = 1.0
TICK_SECONDS: Final = 0.25
# The loop checks this often that the database is still the one to work with.
DATABASE_SECONDS: Final = 5.0
# A run works for an hour, and then until a moment at which nothing is in flight, so that its end delays no call.
RUN_SECONDS: Final = 3_600.0
LONGEST_RUN_SECONDS: Final = RUN_SECONDS + 900.0
# After that, and when its worker ends, it finishes what is in flight.
LAST_CALLS_SECONDS: Final = 30.0
LIMITS: Final = Limits(
    total_ms=AI_MS, answer_bytes=MOST_ANSWER_BYTES, kept_body_bytes=MOST_ANSWER_BYTES, writes_once=True, idle_seconds=30
)


class Lookup(NamedTuple):
    """A call that waits for the addresses of its host."""

    prepared: PreparedCall
    target: Target
    answer: "Future[Addresses]"
    started_at: float


class CallLoop:
    """One run. Its thread claims, calls and records; look-ups and wake-ups have threads of their own.

    `longest_ms` is a shorter limit of all calls.
    """

    def __init__(self, *, longest_ms: int = AI_MS) -> None:
        self._longest_ms = longest_ms
        self.number = random.SystemRandom().randrange(1, 2**62)
        self._woken = threading.Event()
        self._http = HTTPClient(limits=LIMITS)
        self._resolver = Resolver(ttl_s=1.0)
        self._listener = WakeUpListener(OUTSIDE_CALLS, self._wake)
        self._looked_up: list[Lookup] = []
        self._in_flight: dict[int, PreparedCall] = {}
        self._unrecorded: list[CallResult] = []
        self._next_key = 0
        self._after = (0, "")
        self._looked_at = self._confirmed_at = float("-inf")
        self._is_confirmed = self._has_more = False

    @property
    def busy(self) -> int:
        """How many calls are claimed and not recorded."""
        return len(self._looked_up) + len(self._in_flight) + len(self._unrecorded)

    def run(self, *, should_stop: Callable[[], bool], seconds: float = RUN_SECONDS) -> None:
        """Work until asked to stop, or for this many seconds, and then finish the calls in flight."""
        self._listener.thread.start()
        try:
            with rare_collections():
                until = time.monotonic() + seconds
                while not should_stop() and (self.busy or time.monotonic() < until):
                    self._round(claims=True)
                until, self._has_more = time.monotonic() + LAST_CALLS_SECONDS, False
                while self.busy and time.monotonic() < until:
                    self._round(claims=False)
        finally:
            self._listener.stop()
            self._http.close()
            self._resolver.close()

    def _wake(self) -> None:
        self._woken.set()
        self._http.wake()

    def _round(self, *, claims: bool) -> None:
        if claims and self._is_time_to_look():
            self._claim()
        self._start_looked_up()
        # A wake-up ends the wait, so the loop looks for calls at once.
        for result in self._http.poll(0.0 if self._unrecorded or self._has_more else TICK_SECONDS):
            self._finish(result)
        self._record()

    def _is_time_to_look(self) -> bool:
        is_time = self._has_more or self._woken.is_set() or time.monotonic() - self._looked_at >= LOOK_SECONDS
        if not is_time or self.busy >= MOST_IN_FLIGHT:
            return False
        self._woken.clear()
        self._looked_at, self._has_more = time.monotonic(), False
        return self._works_with_this_database()

    def _works_with_this_database(self) -> bool:
        now = time.monotonic()
        if not self._is_confirmed or now - self._confirmed_at >= DATABASE_SECONDS:
            self._confirmed_at = now
            with connection.cursor() as cursor:
                self._is_confirmed = is_confirmed(cursor)
        return self._is_confirmed

    def _claim(self) -> None:
        places = MOST_IN_FLIGHT - self.busy
        claim = retry_on_conflict(partial(claim_calls, worker=self.number, places=places, after=self._after))
        if claim is None:
            claim = Claim(after=self._after)  # another process is claiming; look again soon
            self._looked_at -= LOOK_SECONDS - TICK_SECONDS
        else:
            self._has_more = claim.has_more and self.busy + len(claim.prepared) < MOST_IN_FLIGHT
        self._after = claim.after
        self._unrecorded += claim.ended
        for prepared in claim.prepared:
            self._begin(prepared)

    def _begin(self, prepared: PreparedCall) -> None:
        """Send a call, or look its host up first."""
        try:
            target = parse_target(prepared.url)
            vetted = check_without_lookup(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
        except URLRefused:
            self._unrecorded.append(refused(prepared, "address_refused"))
            return
        if vetted is not None:
            self._send(prepared, vetted, 0.0)
            return
        answer = self._resolver.submit(target.host)
        answer.add_done_callback(lambda _: self._http.wake())
        self._looked_up.append(Lookup(prepared, target, answer, time.monotonic()))

    def _start_looked_up(self) -> None:
        answered = [one for one in self._looked_up if one.answer.done()]
        self._looked_up = [one for one in self._looked_up if not one.answer.done()]
        for one in answered:
            try:
                addresses = one.answer.result()
                vetted = check_addresses(one.target, addresses, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
            except LookupFailed:
                self._unrecorded.append(refused(one.prepared, "unreachable", is_passing=True))
            except URLRefused:
                self._unrecorded.append(refused(one.prepared, "address_refused"))
            else:
                self._send(one.prepared, vetted, (time.monotonic() - one.started_at) * 1000)

    def _send(self, prepared: PreparedCall, vetted: VettedTarget, dns_ms: float) -> None:
        self._next_key += 1
        request = Request(
            self._next_key,
            vetted,
            prepared.headers,
            prepared.body,
            dns_ms=dns_ms,
            method=prepared.method,
            total_ms=min(prepared.total_ms, self._longest_ms),
        )
        try:
            self._http.submit(request)
        except ValueError:
            self._unrecorded.append(refused(prepared, "bad_header"))
        else:
            self._in_flight[self._next_key] = prepared

    def _finish(self, result: Result) -> None:
        prepared = self._in_flight.pop(result.key)
        ended = result_of(prepared, result)
        observe("outside_call_seconds", result.total_ms / 1000, prepared.kind)
        told = {"row": ended.call_id, "kind": prepared.kind, "outcome": ended.code or "done", "tries": ended.tries}
        tokens = {"input_tokens": ended.input_tokens, "output_tokens": ended.output_tokens}
        logger.info("an outside call ended", extra={**told, **tokens, "ms": round(result.total_ms)})
        self._unrecorded.append(ended)

    def _record(self) -> None:
        """Record what has ended: together, or each alone if rows are locked. What is left waits for the next round."""
        results, self._unrecorded = self._unrecorded, []
        if not results:
            return
        self._woken.set()  # there is room for others now
        if not self._is_recorded(results):
            self._unrecorded = [one for one in results if not self._is_recorded([one])]

    def _is_recorded(self, results: Iterable[CallResult]) -> bool:
        try:
            retry_on_conflict(partial(record_results, results, worker=self.number))
        except OperationalError:
            if not connection.is_usable():
                raise  # the claims come free by themselves
            return False
        for one in results:
            count("outside_calls_total", 1, one.code or "done")
        return True


def run_calls(*, should_stop: Callable[[], bool]) -> None:
    """Make outside calls until the worker ends or the run's time is over."""
    CallLoop().run(should_stop=should_stop)
