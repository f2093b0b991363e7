"""The attempts in flight: checks the URL again, signs, sends, and passes results on to the recorder."""

import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from config.http.client import HTTPClient
from config.http.error_codes import BLOCKED_ADDRESS, DNS, FAILED, WITHHELD
from config.http.guard import URLRefused, VettedTarget
from config.http.resolver import Addresses, LookupFailed, Resolver
from config.http.transfer import Request, Result
from webhooks.dispatcher.destinations import Destination
from webhooks.dispatcher.outcomes import AttemptResult, not_sent
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.dispatcher.queues import EndpointQueues
from webhooks.dispatcher.recorder import DeliveryRecorder, Unwanted
from webhooks.services.queueing import AGENCY_SUSPENDED, ENDPOINT_DISABLED, ENDPOINT_REMOVED
from webhooks.signing import Signature, headers

REMEMBER_ANSWERS_SECONDS = 1.0


class PendingLookup(NamedTuple):
    """A delivery that waits for the DNS look-up of its host."""

    row: LeasedDelivery
    destination: Destination
    started_at: float
    answer: "Future[Addresses]"

    @property
    def took_ms(self) -> float:
        return (time.monotonic() - self.started_at) * 1000


class AttemptsInFlight:
    """Starts and finishes attempts. Only the event loop's thread uses it."""

    def __init__(self, queues: EndpointQueues, sender: HTTPClient, recorder: DeliveryRecorder) -> None:
        self.finished = 0
        self._queues = queues
        self._sender = sender
        self._recorder = recorder
        self._resolver = Resolver(ttl_s=REMEMBER_ANSWERS_SECONDS)
        self._answered: deque[PendingLookup] = deque()
        self._in_flight: dict[int, tuple[LeasedDelivery, str, Signature, float]] = {}

    def start(self, row: LeasedDelivery, destination: Destination | None) -> None:
        """Start an attempt. Nothing is sent to a disabled or removed endpoint.

        Deliveries of a suspended agency are put off.
        """
        if destination is None or not destination.is_open:
            self._queues.finish(row, 0.0, failed=False)
            is_removed = destination is None or destination.is_removed
            self._recorder.add(unwanted=[Unwanted(row, ENDPOINT_REMOVED if is_removed else ENDPOINT_DISABLED)])
        elif row.is_of_suspended:
            self._queues.finish(row, 0.0, failed=False)
            self._recorder.add(unwanted=[Unwanted(row, AGENCY_SUSPENDED)])
        elif destination.refusal is not None:
            self._refuse(row, destination, BLOCKED_ADDRESS)
        elif destination.vetted_address is not None:
            self._send(row, destination, destination.vetted_address, 0.0)
        else:
            self._look_up(row, destination)

    def _look_up(self, row: LeasedDelivery, destination: Destination) -> None:
        known = self._resolver.remembered(destination.host)
        if known is not None:
            self._check(row, destination, known, 0.0)
            return
        lookup = PendingLookup(row, destination, time.monotonic(), self._resolver.submit(destination.host))
        lookup.answer.add_done_callback(partial(self._queue_answer, lookup))

    def _queue_answer(self, lookup: PendingLookup, _: "Future[Addresses]") -> None:
        """Queue a look-up's answer for the event loop. A thread of the resolver calls this."""
        self._answered.append(lookup)
        self._sender.wake()

    def _take_answers(self) -> None:
        while self._answered:
            lookup = self._answered.popleft()
            try:
                answer = lookup.answer.result(timeout=0)
            except LookupFailed:
                self._refuse(lookup.row, lookup.destination, DNS, dns_ms=lookup.took_ms)
            else:
                self._check(lookup.row, lookup.destination, answer, lookup.took_ms)

    def _check(self, row: LeasedDelivery, destination: Destination, answer: Addresses, dns_ms: float) -> None:
        """Send to the resolved addresses. A name without an address is retried, as it may get one again."""
        if not answer:
            self._refuse(row, destination, DNS, dns_ms=dns_ms)
            return
        try:
            vetted = destination.check(answer)
        except URLRefused:
            self._refuse(row, destination, BLOCKED_ADDRESS, dns_ms=dns_ms)
        else:
            self._send(row, destination, vetted, dns_ms)

    def _send(self, row: LeasedDelivery, destination: Destination, vetted: VettedTarget, dns_ms: float) -> None:
        body = row.body
        signature = None if body is None else destination.sign(envelope_id=row.envelope_id, body=body)
        if body is None or signature is None:
            self._refuse(row, destination, FAILED, dns_ms=dns_ms)
            return
        named = headers(
            event=row.event,
            envelope_id=row.envelope_id,
            signature=signature,
            is_for_workspace=row.workspace_id is not None,
        )
        self._sender.submit(Request(row.id, vetted, named, body, dns_ms))
        self._in_flight[row.id] = (row, destination.url, signature, time.monotonic())

    def _refuse(self, row: LeasedDelivery, destination: Destination, error: str, *, dns_ms: float = 0.0) -> None:
        self._queues.finish(row, dns_ms / 1000, failed=True)
        self._recorder.add(results=[not_sent(row, destination.url, error, dns_ms=dns_ms)])

    def go_on(self, timeout: float) -> None:
        """Process answers and results for up to `timeout` seconds. Requests that were withheld are given back."""
        self._take_answers()
        results = self._sender.poll(timeout)
        if results:
            now = time.monotonic()
            self._recorder.add(
                unused=[self._withdraw(result) for result in results if result.error == WITHHELD],
                results=[self._finish(result, now) for result in results if result.error != WITHHELD],
            )

    def _withdraw(self, result: Result) -> LeasedDelivery:
        row = self._in_flight.pop(result.key)[0]
        self._queues.finish(row, 0.0, failed=False)
        return row

    def _finish(self, result: Result, now: float) -> AttemptResult:
        row, url, signature, started_at = self._in_flight.pop(result.key)
        self.finished += 1
        self._queues.finish(row, now - started_at, failed=result.error is not None)
        return AttemptResult(row, url, signature, result)

    def mark_slow(self, *, before: float) -> None:
        """Mark the endpoints slow whose attempts started at `before` or earlier and are still in flight."""
        for row, _, _, started_at in self._in_flight.values():
            if started_at > before:
                break
            self._queues.mark_slow(row)

    def close(self) -> None:
        self._resolver.close()
