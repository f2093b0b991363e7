"""The calls in flight: each claimed message becomes one, and what came of it goes to the recorder."""

import time
from collections import deque
from collections.abc import Container
from typing import Final, NamedTuple

import orjson
from requests.structures import CaseInsensitiveDict

from channelconnect.providers import ProviderSettings
from channelconnect.providers.messages import (
    NOT_CONNECTED,
    CallResult,
    Outcome,
    body_of,
    error_of,
    read_answer,
)
from channelconnect.providers.messages.answers import UNREACHED, UNSENDABLE
from channelconnect.providers.messages.bodies import UnwritableMessage
from channelconnect.providers.messages.errors import ERRORS, Backoff
from channelconnect.sending.address import ProviderAddress
from channelconnect.sending.channels import ChannelSnapshot, KnownChannels
from channelconnect.sending.limits import SLOW_SECONDS, SendingLimits
from channelconnect.sending.recorder import MessageRecorder
from channelconnect.sending.routes import Routes
from channelconnect.sending.sources import ClaimedMessage, Sent
from channelconnect.sending.uploads import MediaUploads, is_of_lost_file, must_upload
from channelconnect.sending.waits import LONGEST_RETRY_SECONDS, given_up, wait_of
from config.http.client import Sender
from config.http.exchange import Limits, Request, Result
from config.http.lookups import LookupFailed
from config.http.resolver import Addresses

# The whole call ends before the run's claims could be taken for lost.
CALL_LIMITS: Final = Limits(
    total_ms=15_000, connect_ms=5_000, kept_body_bytes=16 * 1024, writes_once=True, idle_seconds=30
)


# So many are started before the answers of others are looked at.
STARTED_AT_ONCE: Final = 64
NO_HEADERS: Final[CaseInsensitiveDict[str]] = CaseInsensitiveDict()


class Call(NamedTuple):
    row: ClaimedMessage
    token: str
    started_at: float


class CallsInFlight:
    """Only the thread of the loop uses it."""

    def __init__(
        self,
        settings: ProviderSettings,
        http: Sender,
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
        self._calls: dict[int, Call] = {}
        self._slow: set[int] = set()
        self._next_key = 0

    @property
    def in_flight(self) -> int:
        return len(self._calls) + self._uploads.running

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, rows: list[ClaimedMessage]) -> None:
        """Take messages over: from now on they count as calls."""
        for row in rows:
            channel = self._channels.get(row.channel_id)
            self._limits.start(
                channel=row.channel_id,
                agency=row.agency_id,
                platform=channel.platform if channel else "",
                throughput=channel.throughput if channel else "",
                is_urgent=row.source in self._urgent,
            )
        self._waiting.extend(rows)

    def drop_waiting(self) -> list[ClaimedMessage]:
        """Give back those of which nothing was given to the provider."""
        dropped = [*self._uploads.drop(), *self._waiting]
        self._waiting.clear()
        for row in dropped:
            self._release(row)
        return dropped

    def start_waiting(self) -> bool:
        """Make calls of messages that wait, once it is known where the provider is; say whether more could be made."""
        self._waiting.extendleft(self._uploads.take_done())
        if not self._waiting:
            return False
        try:
            addresses = self._address.find()
        except LookupFailed:
            self._recorder.add(results=[self._sent(row, UNREACHED) for row in self.drop_waiting()])
            return False
        if addresses is None:
            return False
        refused: list[Sent] = []
        for _ in range(min(STARTED_AT_ONCE, len(self._waiting))):
            row = self._waiting.popleft()
            refusal = self._start(row, addresses)
            if refusal is not None:
                self._release(row)
                refused.append(self._sent(row, refusal))
        if refused:
            self._recorder.add(results=refused)
        return bool(self._waiting)

    def _start(self, row: ClaimedMessage, addresses: Addresses) -> Outcome | None:
        """Start a call; give why it cannot be made, if it cannot."""
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
            route = self._routes.find(channel.sender_id, token, addresses)
            self._next_key += 1
            self._http.submit(Request(self._next_key, route.way, route.headers, body))
        except (UnwritableMessage, KeyError, TypeError, ValueError):
            return UNSENDABLE
        self._calls[self._next_key] = Call(row, token, time.monotonic())
        return None

    def _refusal(self, row: ClaimedMessage, channel: ChannelSnapshot | None) -> Outcome | None:
        """Why nothing is sent, if nothing is."""
        if row.unsendable:
            return Outcome(CallResult.REFUSED, error=ERRORS.get(row.unsendable) or error_of(None))
        if channel is None or not channel.is_usable:
            return Outcome(CallResult.REFUSED, error=NOT_CONNECTED)
        return None

    def go_on(self, timeout: float) -> None:
        """Let everything in flight go on for a moment."""
        results = self._http.poll(timeout)
        if results:
            self._recorder.add(results=[self._finish(result) for result in results])

    def _finish(self, result: Result) -> Sent:
        row, token, _ = self._calls.pop(result.key)
        self.finished += 1
        was_slow = result.key in self._slow
        self._slow.discard(result.key)
        self._release(row, was_slow=was_slow)
        outcome = read_answer(
            status=result.status if result.error is None or result.error.startswith("http_") else None,
            body=result.response_body,
            headers=NO_HEADERS if result.status == 200 else CaseInsensitiveDict(result.response_headers),
            written=result.written,
            token=token,
        )
        if outcome.error is not None and outcome.error.backoff is Backoff.NUMBER:
            self._limits.slow_down(row.channel_id)
        return self._sent(row, outcome)

    def _release(self, row: ClaimedMessage, *, was_slow: bool = False) -> None:
        is_urgent = row.source in self._urgent
        self._limits.finish(channel=row.channel_id, agency=row.agency_id, was_slow=was_slow, is_urgent=is_urgent)

    def _sent(self, row: ClaimedMessage, outcome: Outcome) -> Sent:
        now = time.time()
        if is_of_lost_file(row, outcome):
            outcome = outcome._replace(result=CallResult.RETRY)
        if outcome.result is not CallResult.RETRY:
            return Sent(row, outcome, now)
        if now - row.queued_at.timestamp() > LONGEST_RETRY_SECONDS:
            return Sent(row, given_up(outcome), now)
        return Sent(row, outcome, now, wait_of(outcome, tries=row.tries))

    def mark_slow(self) -> None:
        """Count the calls that are out for long under their own limit."""
        before = time.monotonic() - SLOW_SECONDS
        for key, call in self._calls.items():
            if call.started_at > before:
                break
            if key not in self._slow:
                self._slow.add(key)
                self._limits.mark_slow(call.row.channel_id)

    def close(self) -> None:
        self._uploads.close()
        self._address.close()
