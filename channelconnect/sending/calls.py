"""The calls in flight: each claimed message becomes a call; its result is recorded or waits for the next try."""

import time
from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson
from requests.structures import CaseInsensitiveDict

from channelconnect.providers.message_results import (
    ERRORS,
    NOT_CONNECTED,
    UNAVAILABLE,
    UNREACHED,
    UNSENDABLE,
    Backoff,
    CallResult,
    Outcome,
    error_of,
    of_comment,
    read_answer,
)
from channelconnect.providers.messages import UnwritableMessage, body_of, path_of
from channelconnect.providers.settings import ProviderSettings
from channelconnect.sending.brakes import pull_brakes
from channelconnect.sending.channels import ChannelSnapshot, KnownChannels, ProviderAddress, Routes
from channelconnect.sending.limits import SLOW_SECONDS, SendingLimits
from channelconnect.sending.recorder import MessageRecorder
from channelconnect.sending.sources import ClaimedMessage, MessageResult
from channelconnect.sending.uploads import MediaUploads, is_of_lost_file, must_upload
from config.http.client import HTTPClient
from config.http.error_codes import WITHHELD
from config.http.resolver import Addresses, LookupFailed
from config.http.transfer import Limits, Request, Result

# Seconds by the number of tries so far; the last value repeats.
POWERS_OF_FOUR: Final = (1.0, 4.0, 16.0, 64.0)
WAITS: Final[dict[Backoff, tuple[float, ...]]] = {
    Backoff.PAIR: POWERS_OF_FOUR,
    Backoff.THROTTLE: (5.0, 20.0, 60.0),
    Backoff.NUMBER: (1.0, 2.0, 5.0, 10.0),
    Backoff.SERVICE: (1.0, 4.0, 20.0),
    Backoff.ACCESS: (15.0, 60.0, 300.0),
}
LONGEST_WAIT_SECONDS: Final = 3_600.0
LONGEST_RETRY_SECONDS: Final = 24 * 3_600.0


def retry_delay(outcome: Outcome, *, tries: int) -> float:
    """Return the wait after this many tries. The answer's own wait counts if it is longer."""
    waits = WAITS[outcome.error.backoff if outcome.error else Backoff.SERVICE]
    return min(max(outcome.wait_seconds, waits[min(tries, len(waits) - 1)]), LONGEST_WAIT_SECONDS)


def given_up(outcome: Outcome) -> Outcome:
    """Return the final outcome of a message that could not be sent for a day."""
    return outcome._replace(result=CallResult.REFUSED, error=outcome.error or UNAVAILABLE)


# The whole call ends before the run's claims could be declared lost.
CALL_LIMITS: Final = Limits(
    total_ms=15_000, connect_ms=5_000, kept_body_bytes=16 * 1024, writes_once=True, idle_seconds=30
)


# The number of calls in flight as long as each look finds answers. More calls would gain no speed then, and each call
# costs more with more connections.
BASE_CALLS: Final = 64
# If a look finds no answer, this many more calls are started. So slow answers lead to more calls in flight.
EXTRA_CALLS: Final = 16
# Before it starts more calls, the loop waits this long for an answer. That leaves the processor to a provider on the
# same machine.
MOMENT_SECONDS: Final = 0.001
NO_HEADERS: Final[CaseInsensitiveDict[str]] = CaseInsensitiveDict()


class Call(NamedTuple):
    row: ClaimedMessage
    token: str
    started_at: float
    connected_at: datetime | None


class CallsInFlight:
    """The calls in flight of one run. Only the loop's thread uses it."""

    def __init__(
        self,
        settings: ProviderSettings,
        http: HTTPClient,
        channels: KnownChannels,
        limits: SendingLimits,
        recorder: MessageRecorder,
        urgent: Container[str] = (),
    ) -> None:
        self.finished = 0
        self._http = http
        self._urgent = urgent
        self._channels = channels
        self._limits = limits
        self._recorder = recorder
        self._address = ProviderAddress(settings.graph_url, http.wake)
        self._routes = Routes(settings)
        self._uploads = MediaUploads(http.wake)
        self._waiting: deque[ClaimedMessage] = deque()
        self._waiting_urgent: deque[ClaimedMessage] = deque()
        self._calls: dict[int, Call] = {}
        self._slow: set[int] = set()
        self._next_key = 0
        self._may_add = False  # a look found no answer, so more than BASE_CALLS may be in flight

    @property
    def in_flight(self) -> int:
        return len(self._calls) + self._uploads.running

    @property
    def waiting(self) -> int:
        return len(self._waiting) + len(self._waiting_urgent)

    @property
    def room(self) -> int:
        """How many calls may start before the next look for answers."""
        few = BASE_CALLS - (len(self._calls) - len(self._slow))
        return max(few, EXTRA_CALLS if self._may_add else 0)

    def add(self, rows: Sequence[ClaimedMessage]) -> None:
        """Take messages over; they count as calls from now on. Messages that people wait for go before all others."""
        for (channel_id, agency_id, is_urgent), number in self._numbers_of(rows):
            channel = self._channels.get(channel_id)
            self._limits.start(
                channel=channel_id,
                agency=agency_id,
                platform=channel.platform if channel else "",
                account=channel.account if channel else "",
                throughput=channel.throughput if channel else "",
                is_urgent=is_urgent,
                number=number,
            )
        for row in rows:
            self._waiting_of(row).append(row)

    def drop_waiting(self) -> list[ClaimedMessage]:
        """Return the messages of which the provider has received nothing."""
        dropped, waiting = self._uploads.drop(), [*self._waiting_urgent, *self._waiting]
        self._waiting_urgent.clear()
        self._waiting.clear()
        for row, was_slow in dropped:
            if was_slow:
                self._limits.unmark_slow(row.channel_id)
        given_back = [*(row for row, _ in dropped), *waiting]
        self._release_all(given_back)
        return given_back

    def start_waiting(self) -> bool:
        """Start calls of waiting messages once the provider's address is known. Returns whether more are waiting."""
        self._take_uploaded()
        if not self.waiting:
            return False
        try:
            addresses = self._address.find()
        except LookupFailed:
            self._recorder.add(results=[self._sent(row, UNREACHED) for row in self.drop_waiting()])
            return False
        if addresses is None:
            return False
        number, self._may_add = min(self.room, self.waiting), False
        refused: list[MessageResult] = []
        braked: list[ClaimedMessage] = []
        for _ in range(number):
            row = (self._waiting_urgent or self._waiting).popleft()
            if self._is_braked(row):
                braked.append(row)
            elif refusal := self._start(row, addresses):
                refused.append(self._sent(row, refusal))
        if refused or braked:
            self._release_all([*braked, *(sent.row for sent in refused)])
            self._recorder.add(results=refused, unused=braked)
        return bool(self.waiting)

    def _is_braked(self, row: ClaimedMessage) -> bool:
        """Whether the provider has stopped the account's sending since this message was claimed."""
        channel = self._channels.get(row.channel_id)
        return channel is not None and self._limits.brakes.is_stopped(channel.account)

    def _waiting_of(self, row: ClaimedMessage) -> deque[ClaimedMessage]:
        return self._waiting_urgent if row.source in self._urgent else self._waiting

    def _take_uploaded(self) -> None:
        """Go on with messages whose files are uploaded. A slow upload says nothing about the speed of the call."""
        for row, was_slow in self._uploads.take_done():
            if was_slow:
                self._limits.unmark_slow(row.channel_id)
            self._waiting_of(row).appendleft(row)

    def _start(self, row: ClaimedMessage, addresses: Addresses) -> Outcome | None:
        """Start a call. Returns the outcome if it cannot be made."""
        channel = self._channels.get(row.channel_id)
        refusal = self._refusal(row, channel)
        if refusal is not None or channel is None:
            return refusal
        token = self._channels.token_of(channel)
        if token is None:
            return Outcome(CallResult.REFUSED, error=NOT_CONNECTED)
        file = row.message.file
        if file is not None and must_upload(channel, file):
            self._uploads.start(row, file, channel, token)
            return None
        try:
            body = orjson.dumps(body_of(channel.platform, row.message))
            path = path_of(channel.platform, row.message, channel.sender_id)
            route = self._routes.find(path, token, addresses)
            self._next_key += 1
            self._http.submit(Request(self._next_key, route.way, route.headers, body))
        except (UnwritableMessage, KeyError, TypeError, ValueError):
            return UNSENDABLE
        self._calls[self._next_key] = Call(row, token, time.monotonic(), channel.connected_at)
        return None

    def _refusal(self, row: ClaimedMessage, channel: ChannelSnapshot | None) -> Outcome | None:
        """Return the outcome of a message that must not be sent, or None."""
        if row.unsendable:
            return Outcome(CallResult.REFUSED, error=ERRORS.get(row.unsendable) or error_of(None))
        if channel is None or not channel.is_usable:
            return Outcome(CallResult.REFUSED, error=NOT_CONNECTED)
        return None

    def poll(self, timeout: float) -> None:
        """Let everything in flight go on for a moment. Messages that the client has withheld are given back."""
        results = self._http.poll(timeout)
        self._may_add = self._http.was_idle
        if results:
            withheld = [self._end(result).row for result in results if result.error == WITHHELD]
            ended = [self._finish(result) for result in results if result.error != WITHHELD]
            self._release_all([*withheld, *(sent.row for sent in ended)])
            self._recorder.add(results=ended, unused=withheld)

    def _end(self, result: Result) -> Call:
        call = self._calls.pop(result.key)
        self.finished += 1
        if result.key in self._slow:
            self._slow.discard(result.key)
            self._limits.unmark_slow(call.row.channel_id)
        return call

    def _finish(self, result: Result) -> MessageResult:
        row, token, _, connected_at = self._end(result)
        outcome = read_answer(
            status=result.status if result.error is None or result.error.startswith("http_") else None,
            body=result.response_body,
            headers=NO_HEADERS if result.status == 200 else CaseInsensitiveDict(result.response_headers),
            written=result.written,
            token=token,
        )
        if row.message.answers_comment:
            outcome = of_comment(outcome)
        if outcome.error is not None and outcome.error.backoff is Backoff.NUMBER:
            self._limits.slow_down(row.channel_id)
        if channel := self._channels.get(row.channel_id):
            pull_brakes(self._limits.brakes, channel.account, outcome, result)
        return self._sent(row, outcome)._replace(connected_at=connected_at)

    def _release_all(self, rows: Iterable[ClaimedMessage]) -> None:
        for (channel_id, agency_id, is_urgent), number in self._numbers_of(rows):
            self._limits.finish(channel=channel_id, agency=agency_id, is_urgent=is_urgent, number=number)

    def _numbers_of(self, rows: Iterable[ClaimedMessage]) -> Iterable[tuple[tuple[int, int, bool], int]]:
        """Count messages by channel, agency and urgency."""
        return Counter((row.channel_id, row.agency_id, row.source in self._urgent) for row in rows).items()

    def _sent(self, row: ClaimedMessage, outcome: Outcome) -> MessageResult:
        now = time.time()
        if outcome.result is CallResult.ACCEPTED:
            return MessageResult(row, outcome, now)
        if is_of_lost_file(row, outcome):
            outcome = outcome._replace(result=CallResult.RETRY)
        if outcome.result is not CallResult.RETRY:
            return MessageResult(row, outcome, now)
        if now - row.queued_at.timestamp() > LONGEST_RETRY_SECONDS:
            return MessageResult(row, given_up(outcome), now)
        return MessageResult(row, outcome, now, retry_delay(outcome, tries=row.tries))

    def mark_slow(self) -> None:
        """Count calls and uploads that take long under their own limit."""
        before = time.monotonic() - SLOW_SECONDS
        for key, call in self._calls.items():
            if call.started_at > before:
                break
            if key not in self._slow:
                self._slow.add(key)
                self._limits.mark_slow(call.row.channel_id)
        for row in self._uploads.mark_slow():
            self._limits.mark_slow(row.channel_id)

    def close(self) -> None:
        self._uploads.close()
        self._address.close()
