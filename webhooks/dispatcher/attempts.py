"""The attempts in flight: checks the URL again, signs, sends, and passes results on to the recorder."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Literal, NamedTuple

from config.encryption import EncryptedTextField, UnreadableSecret
from config.http.client import HTTPClient
from config.http.error_codes import BLOCKED_ADDRESS, DNS, FAILED, WITHHELD
from config.http.guard import Network, URLRefused, VettedTarget, check_addresses, check_without_lookup, parse_target
from config.http.resolver import Addresses, LookupFailed, Resolver
from config.http.transfer import Request, Result
from webhooks.dispatcher.queries import EndpointSnapshot, LeasedDelivery
from webhooks.dispatcher.queues import EndpointQueues
from webhooks.dispatcher.recorder import AttemptResult, DeliveryRecorder, SkippedDelivery, not_sent
from webhooks.models import Endpoint
from webhooks.services.queueing import AGENCY_SUSPENDED, ENDPOINT_DISABLED, ENDPOINT_REMOVED
from webhooks.signing import Signature, Signer, headers

logger = logging.getLogger(__name__)
# A change in the snapshot's fields before this one needs a new `Destination`.
COMPARED = EndpointSnapshot._fields.index("previous_secret_seconds")


class Destination:
    """One endpoint as its row was last read. `refusal` is set if nothing may be sent to its URL."""

    __slots__ = (
        "_allowed",
        "_answer",
        "_previous_ends_at",
        "_previous_signer",
        "_signer",
        "_snapshot",
        "_vetted",
        "host",
        "is_open",
        "is_removed",
        "refusal",
        "url",
        "vetted_address",
    )

    def __init__(self, snapshot: EndpointSnapshot, allowed: Sequence[Network]) -> None:
        self._snapshot = snapshot
        self.url = snapshot.url
        self.is_open = snapshot.is_open
        self.is_removed = snapshot.is_removed
        self._signer = _signer(snapshot, "secret")
        self._previous_signer = _signer(snapshot, "previous_secret")
        self._previous_ends_at = time.monotonic() + (snapshot.previous_secret_seconds or 0.0)
        self.host = ""
        self.refusal: URLRefused | None = None
        self.vetted_address: VettedTarget | None = None  # set if the host is an IP address
        self._allowed = allowed
        self._answer: tuple[str, ...] = ()
        self._vetted: VettedTarget | None = None
        try:
            target = parse_target(snapshot.url)
            self.host = target.host
            self.vetted_address = check_without_lookup(target, allowed=allowed)
        except URLRefused as refusal:
            self.refusal = refusal

    def matches(self, snapshot: EndpointSnapshot) -> bool:
        """Return whether the snapshot changes nothing. A recently edited endpoint is read several times."""
        return self._snapshot[:COMPARED] == snapshot[:COMPARED]  # the other fields do not matter here

    def sign(self, *, envelope_id: str, body: bytes) -> Signature | None:
        """Sign a body, also with the previous secret while it is valid. Return None if the secret is unreadable."""
        if self._signer is None:
            return None
        now = int(time.time())
        signature = self._signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        if self._previous_signer is None or time.monotonic() >= self._previous_ends_at:
            return signature
        previous = self._previous_signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        return signature._replace(previous_message=previous.message)

    def check(self, answer: tuple[str, ...]) -> VettedTarget:
        """Check the addresses that the name resolves to. The same answer is checked once. Raises `URLRefused`."""
        if self._vetted is None or self._answer != answer:
            self._vetted = check_addresses(parse_target(self.url), answer, allowed=self._allowed)
            self._answer = answer
        return self._vetted


def _signer(snapshot: EndpointSnapshot, name: Literal["secret", "previous_secret"]) -> Signer | None:
    """Return a signer with the endpoint's decrypted secret, or None if there is none or it is unreadable."""
    field, secret = Endpoint._meta.get_field(name), getattr(snapshot, name)
    if secret is None or not isinstance(field, EncryptedTextField):
        return None
    try:
        return Signer(field.open(secret, row=str(snapshot.uuid)))
    except (UnreadableSecret, ValueError):
        logger.error("webhook secret unreadable", extra={"webhook": str(snapshot.uuid)})
        return None


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
            self._recorder.add(unwanted=[SkippedDelivery(row, ENDPOINT_REMOVED if is_removed else ENDPOINT_DISABLED)])
        elif row.is_of_suspended:
            self._queues.finish(row, 0.0, failed=False)
            self._recorder.add(unwanted=[SkippedDelivery(row, AGENCY_SUSPENDED)])
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

    def poll(self, timeout: float) -> None:
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
