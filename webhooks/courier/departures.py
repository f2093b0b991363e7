"""The attempts on their way: judged anew, signed, sent, and handed to the recorder when they land."""

import time
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from webhooks.courier.lanes import Lanes
from webhooks.courier.receivers import Receiver
from webhooks.courier.recorder import Recorder
from webhooks.courier.rows import Leased
from webhooks.courier.verdicts import Landed, refused
from webhooks.letters import headers, sign
from webhooks.transport.client import Sender
from webhooks.transport.exchange import Request, Result
from webhooks.transport.guard import Vetted
from webhooks.transport.lookups import LookupFailed
from webhooks.transport.outcomes import BLOCKED_ADDRESS, DNS, FAILED
from webhooks.transport.resolver import Answer, Resolver
from webhooks.transport.targets import TargetRefused

REMEMBER_ANSWERS_SECONDS = 1.0


class Asked(NamedTuple):
    """A delivery whose receiver's name is being looked up."""

    row: Leased
    receiver: Receiver
    at: float
    answer: "Future[Answer]"

    @property
    def took_ms(self) -> float:
        return (time.monotonic() - self.at) * 1000


class Departures:
    """Only the thread of the event loop uses it."""

    def __init__(self, lanes: Lanes, sender: Sender, recorder: Recorder) -> None:
        self.landed = 0
        self._lanes = lanes
        self._sender = sender
        self._recorder = recorder
        self._resolver = Resolver(ttl_s=REMEMBER_ANSWERS_SECONDS)
        self._answered: deque[Asked] = deque()
        self._flying: dict[int, tuple[Leased, str, bytes, float]] = {}

    def depart(self, row: Leased, receiver: Receiver) -> None:
        """Start an attempt. A receiver that wants nothing any more gets nothing."""
        if not receiver.is_open:
            self._lanes.land(row, 0.0, failed=False)
            self._recorder.note(unwanted=[row])
        elif receiver.refusal is not None:
            self._refuse(row, receiver, BLOCKED_ADDRESS)
        elif receiver.at_sight is not None:
            self._send(row, receiver, receiver.at_sight, 0.0)
        else:
            self._look_up(row, receiver)

    def _look_up(self, row: Leased, receiver: Receiver) -> None:
        known = self._resolver.remembered(receiver.host)
        if known is not None:
            self._judge(row, receiver, known, 0.0)
            return
        asked = Asked(row, receiver, time.monotonic(), self._resolver.submit(receiver.host))
        asked.answer.add_done_callback(partial(self._note_answer, asked))

    def _note_answer(self, asked: Asked, _: "Future[Answer]") -> None:
        """Called by a thread of the resolver."""
        self._answered.append(asked)
        self._sender.wake()

    def _open_answers(self) -> None:
        while self._answered:
            asked = self._answered.popleft()
            try:
                answer = asked.answer.result(timeout=0)
            except LookupFailed:
                self._refuse(asked.row, asked.receiver, DNS, dns_ms=asked.took_ms)
            else:
                self._judge(asked.row, asked.receiver, answer, asked.took_ms)

    def _judge(self, row: Leased, receiver: Receiver, answer: Answer, dns_ms: float) -> None:
        try:
            vetted = receiver.judge(answer)
        except TargetRefused:
            self._refuse(row, receiver, BLOCKED_ADDRESS, dns_ms=dns_ms)
        else:
            self._send(row, receiver, vetted, dns_ms)

    def _send(self, row: Leased, receiver: Receiver, vetted: Vetted, dns_ms: float) -> None:
        if receiver.signer is None or row.body is None:
            self._refuse(row, receiver, FAILED, dns_ms=dns_ms)
            return
        signature = sign(signer=receiver.signer, body=row.body)
        named = headers(event=row.event, envelope_id=row.envelope_id, signature=signature)
        self._sender.submit(Request(row.id, vetted, named, row.body, dns_ms))
        self._flying[row.id] = (row, receiver.url, signature, time.monotonic())

    def _refuse(self, row: Leased, receiver: Receiver, error: str, *, dns_ms: float = 0.0) -> None:
        self._lanes.land(row, dns_ms / 1000, failed=True)
        self._recorder.note(landed=[refused(row, receiver.url, error, dns_ms=dns_ms)])

    def go_on(self, timeout: float) -> None:
        """Let everything in flight go on for a moment."""
        self._open_answers()
        results = self._sender.poll(timeout)
        if results:
            now = time.monotonic()
            self._recorder.note(landed=[self._land(result, now) for result in results])

    def _land(self, result: Result, now: float) -> Landed:
        row, url, signature, departed_at = self._flying.pop(result.key)
        self.landed += 1
        self._lanes.land(row, now - departed_at, failed=result.error is not None)
        return Landed(row, url, signature, result)

    def note_slow(self, *, before: float) -> None:
        """Mark the endpoints of attempts that departed so early and are still out."""
        for row, _, _, departed_at in self._flying.values():
            if departed_at > before:
                break
            self._lanes.note_slow(row)

    def close(self) -> None:
        self._resolver.close()
