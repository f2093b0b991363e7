"""How much may be sent now: for each channel a rate and a number of calls at once, for each agency, and in all.

Calls that take long count under a limit of their own, and their channels get few at once: so a channel whose provider
does not answer takes nothing from the others.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

# Messages a second. WhatsApp counts those that come in as well.
RATES: Final[dict[str, float]] = {"whatsapp": 70.0, "facebook": 200.0, "instagram": 80.0}
LEAST_RATE: Final = 2.0
# What may go at once after a rest: with it no second has more than 80.
BURST_SECONDS: Final = 1 / 7
SLOWER: Final = 0.5
FASTER: Final = 1.1
CLEAN_SECONDS: Final = 10.0

PER_CHANNEL: Final = 32
PER_SLOW_CHANNEL: Final = 4
PER_AGENCY: Final = 128
QUICK_CALLS: Final = 512
SLOW_CALLS: Final = 512
SLOW_SECONDS: Final = 2.0
FORGET_SECONDS: Final = 60.0


class TokenBucket:
    """So many messages a second; one that the provider calls too fast sends half as many, and recovers step by step."""

    def __init__(self, rate: float, now: float) -> None:
        self.most = self.rate = rate
        self.tokens = max(1.0, rate * BURST_SECONDS)
        self.used_at = now
        self._filled_at = now
        self._slowed_at = now

    def room(self, now: float) -> int:
        """How many may go now."""
        self._fill(now)
        return int(self.tokens)

    def take(self, now: float) -> None:
        self._fill(now)
        self.tokens -= 1
        self.used_at = now

    def slow_down(self, now: float) -> None:
        """Halve the rate, once a second at most: calls that were out together tell the same."""
        if now - self._slowed_at >= 1.0 or self.rate == self.most:
            self.rate = max(LEAST_RATE, self.rate * SLOWER)
            self.tokens = min(self.tokens, 0.0)
            self._slowed_at = now

    def _fill(self, now: float) -> None:
        if self.rate < self.most and now - self._slowed_at >= CLEAN_SECONDS:
            self.rate = min(self.most, self.rate * FASTER)
            self._slowed_at = now
        most = max(1.0, self.rate * BURST_SECONDS)
        self.tokens = min(most, self.tokens + (now - self._filled_at) * self.rate)
        self._filled_at = now


class SendingLimits:
    """Only the thread of the loop uses it. `rates` are messages a second by platform; none for no limit."""

    def __init__(
        self, *, rates: Mapping[str, float] | None = RATES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates = rates
        self._clock = clock
        self._buckets: dict[int, TokenBucket] = {}
        self.calls: Counter[int] = Counter()
        self.agency_calls: Counter[int] = Counter()
        self.slow: Counter[int] = Counter()
        self.in_flight = 0

    def start(self, *, channel: int, agency: int, platform: str) -> None:
        now = self._clock()
        self._bucket(channel, platform, now).take(now)
        self.calls[channel] += 1
        self.agency_calls[agency] += 1
        self.in_flight += 1

    def finish(self, *, channel: int, agency: int, was_slow: bool) -> None:
        self.in_flight -= 1
        for counter, key in ((self.calls, channel), (self.agency_calls, agency)):
            counter[key] -= 1
            if not counter[key]:
                del counter[key]
        if was_slow:
            self.slow[channel] -= 1
            if not self.slow[channel]:
                del self.slow[channel]

    def mark_slow(self, channel: int) -> None:
        self.slow[channel] += 1

    def slow_down(self, channel: int) -> None:
        if bucket := self._buckets.get(channel):
            bucket.slow_down(self._clock())

    def rooms(self) -> dict[int, int]:
        """How many more each known channel may send now."""
        now = self._clock()
        return {channel: self._room(channel, bucket, now) for channel, bucket in self._buckets.items()}

    def agency_rooms(self) -> dict[int, int]:
        return {agency: PER_AGENCY - calls for agency, calls in self.agency_calls.items()}

    def batch(self, most: int) -> int:
        """How many more calls may be made in all."""
        slow = self.slow.total()
        return min(most, QUICK_CALLS - (self.in_flight - slow), QUICK_CALLS + SLOW_CALLS - self.in_flight)

    def forget_idle(self) -> None:
        now = self._clock()
        idle = [
            channel
            for channel, bucket in self._buckets.items()
            if now - bucket.used_at > FORGET_SECONDS and bucket.rate == bucket.most and channel not in self.calls
        ]
        for channel in idle:
            del self._buckets[channel]

    def _room(self, channel: int, bucket: TokenBucket, now: float) -> int:
        most = PER_SLOW_CHANNEL if channel in self.slow else PER_CHANNEL
        return max(0, min(most - self.calls[channel], bucket.room(now)))

    def _bucket(self, channel: int, platform: str, now: float) -> TokenBucket:
        bucket = self._buckets.get(channel)
        if bucket is None:
            rate = 1e9 if self._rates is None else self._rates.get(platform, RATES["whatsapp"])
            bucket = self._buckets[channel] = TokenBucket(rate, now)
        return bucket
