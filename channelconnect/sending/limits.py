"""Limits on what may be sent now: for each channel a rate and a number of calls at once, for each agency, and in all.

Slow calls have their own limit, and their channels get few calls at once. So a channel whose provider does not answer
takes nothing from the others. A tenth of each limit is kept for urgent messages, those that a person waits for, so that
no mass of other messages uses it up.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from channelconnect.sending.brakes import Brakes

# Messages a second, seven eighths of the provider's limit. WhatsApp's limit includes incoming messages.
RATES: Final[dict[str, float]] = {"whatsapp": 70.0, "facebook": 200.0, "instagram": 80.0}
# For numbers that the provider has raised to 1,000 a second.
HIGH_RATES: Final[dict[str, float]] = {"whatsapp": 875.0}
# For numbers that stay in the WhatsApp Business app: 20 a second.
BUSINESS_APP: Final = "BUSINESS_APP"
BUSINESS_APP_RATE: Final = 17.5
NO_RATE: Final = 1e9
LEAST_RATE: Final = 2.0
# The size of a burst after a rest. Even with it no second has more than 80, 1,000 or 20.
BURST_SECONDS: Final = 1 / 7
SLOWER: Final = 0.5
FASTER: Final = 1.1
CLEAN_SECONDS: Final = 10.0

# The number of messages for a channel of which nothing is known yet.
FIRST_CLAIM: Final = 10
# A channel may have as many calls in flight as its rate starts in this time, within these bounds.
CALL_SECONDS: Final = 0.4
PER_CHANNEL: Final = 32
PER_FAST_CHANNEL: Final = 512
PER_SLOW_CHANNEL: Final = 4
PER_AGENCY: Final = 512
QUICK_CALLS: Final = 1_024
SLOW_CALLS: Final = 512
SLOW_SECONDS: Final = 2.0
FORGET_SECONDS: Final = 60.0
# The share of each limit that only urgent messages may use.
URGENT_SHARE: Final = 0.1


def urgent_share_of(limit: float) -> int:
    """Return how much of a limit is kept for urgent messages; never all of it."""
    return min(math.ceil(limit * URGENT_SHARE), int(limit) - 1)


class TokenBucket:
    """A rate of messages a second. After a complaint by the provider it is halved, and recovers step by step.

    Another thread may ask for `room`, so the values that it reads are replaced as one tuple.
    """

    def __init__(self, rate: float, now: float) -> None:
        self.most = self.rate = rate
        self.burst = max(1.0, rate * BURST_SECONDS)
        self.most_calls = max(PER_CHANNEL, int(min(rate * CALL_SECONDS, PER_FAST_CHANNEL)))
        self.used_at = now
        self._tokens = (self.burst, now)
        self._slowed_at = now

    def room(self, now: float, *, is_urgent: bool) -> int:
        """Return how many may be sent now."""
        return int(self._tokens_at(now)) - (0 if is_urgent else urgent_share_of(self.burst))

    def take(self, number: int, now: float) -> None:
        self._tokens = (self._tokens_at(now) - number, now)
        self.used_at = now

    def slow_down(self, now: float) -> None:
        """Halve the rate, at most once a second: calls that were in flight together report the same complaint."""
        if now - self._slowed_at >= 1.0 or self.rate == self.most:
            tokens = min(self._tokens_at(now), 0.0)
            self._change_rate(max(LEAST_RATE, self.rate * SLOWER), now)
            self._tokens = (tokens, now)

    def recover(self, now: float) -> None:
        """Raise the rate again after a while without complaints."""
        if self.rate < self.most and now - self._slowed_at >= CLEAN_SECONDS:
            self._change_rate(min(self.most, self.rate * FASTER), now)

    def _change_rate(self, rate: float, now: float) -> None:
        self._tokens = (self._tokens_at(now), now)
        self.rate, self.burst, self._slowed_at = rate, max(1.0, rate * BURST_SECONDS), now

    def _tokens_at(self, now: float) -> float:
        tokens, at = self._tokens
        return min(self.burst, tokens + (now - at) * self.rate)


class SendingLimits:
    """The limits of one run. `rates` are messages a second by platform; None means no limit.

    The loop's thread changes them, and the claimer's thread asks for room. Calls that start meanwhile come from the
    claimer's own last claim, which the claimer counts itself. So it may find too little room, but never too much.
    """

    def __init__(
        self, *, rates: Mapping[str, float] | None = RATES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates = rates
        self._clock = clock
        self.brakes = Brakes(clock)
        self._accounts: dict[int, str] = {}
        self._buckets: dict[int, TokenBucket] = {}
        self.calls: Counter[int] = Counter()
        self.urgent_calls: Counter[int] = Counter()
        self.agency_calls: Counter[int] = Counter()
        self.slow: Counter[int] = Counter()
        self._all_slow = 0
        self.in_flight = 0

    def start(
        self,
        *,
        channel: int,
        agency: int,
        platform: str,
        account: str = "",
        throughput: str = "",
        is_urgent: bool = True,
        number: int = 1,
    ) -> None:
        now = self._clock()
        self._accounts[channel] = account
        self.brakes.start(account, number)
        bucket = self._buckets.get(channel)
        if bucket is None or bucket.most != self._rate(platform, throughput):
            bucket = self._buckets[channel] = TokenBucket(self._rate(platform, throughput), now)
        bucket.take(number, now)
        self.calls[channel] += number
        self.agency_calls[agency] += number
        if is_urgent:
            self.urgent_calls[channel] += number
        self.in_flight += number

    def finish(self, *, channel: int, agency: int, is_urgent: bool = True, number: int = 1) -> None:
        """Count calls that have ended. Slow calls are unmarked separately."""
        self.in_flight -= number
        _count_down(self.calls, channel, number)
        _count_down(self.agency_calls, agency, number)
        if is_urgent:
            _count_down(self.urgent_calls, channel, number)

    def mark_slow(self, channel: int) -> None:
        self.slow[channel] += 1
        self._all_slow += 1

    def unmark_slow(self, channel: int) -> None:
        self._all_slow -= 1
        _count_down(self.slow, channel, 1)

    def slow_down(self, channel: int) -> None:
        if bucket := self._buckets.get(channel):
            bucket.slow_down(self._clock())

    def room(self, channel: int, *, is_urgent: bool = True) -> int:
        """Return how many more messages a channel may get now. Other calls never take the room of urgent messages."""
        bucket = self._buckets.get(channel)
        if bucket is None:
            return FIRST_CLAIM - (0 if is_urgent else urgent_share_of(FIRST_CLAIM))
        most = PER_SLOW_CHANNEL if channel in self.slow else bucket.most_calls
        calls, kept = most - self.calls[channel], urgent_share_of(most)
        calls = max(calls, kept - self.urgent_calls[channel]) if is_urgent else calls - kept
        return max(0, min(calls, bucket.room(self._clock(), is_urgent=is_urgent)))

    def brakes_of(self, channel: int) -> list[str]:
        """Return the scopes of the brakes that apply to a channel now, as far as its account is known."""
        return self.brakes.scopes_of(self._accounts.get(channel, ""))

    def agency_room(self, agency: int, *, is_urgent: bool = True) -> int:
        most = PER_AGENCY if is_urgent else PER_AGENCY - urgent_share_of(PER_AGENCY)
        return most - self.agency_calls[agency]

    def batch(self, most: int, *, is_urgent: bool = True) -> int:
        """Return how many more calls may be made in all."""
        quick, every = QUICK_CALLS, QUICK_CALLS + SLOW_CALLS
        if not is_urgent:
            quick, every = quick - urgent_share_of(quick), every - urgent_share_of(every)
        return min(most, quick - (self.in_flight - self._all_slow), every - self.in_flight)

    def tick(self) -> None:
        """Let rates recover, and drop channels that rest."""
        now = self._clock()
        self.brakes.tick()
        for bucket in self._buckets.values():
            bucket.recover(now)
        idle = [
            channel
            for channel, bucket in self._buckets.items()
            if now - bucket.used_at > FORGET_SECONDS
            and bucket.rate == bucket.most
            and channel not in self.calls
            and not self.brakes_of(channel)
        ]
        for channel in idle:
            del self._buckets[channel]
            self._accounts.pop(channel, None)

    def _rate(self, platform: str, throughput: str) -> float:
        if self._rates is None:
            return NO_RATE
        if throughput == BUSINESS_APP:
            return BUSINESS_APP_RATE
        known = HIGH_RATES if throughput == "HIGH" and platform in HIGH_RATES else self._rates
        return known.get(platform, RATES["whatsapp"])


def _count_down(counter: Counter[int], key: int, number: int) -> None:
    counter[key] -= number
    if not counter[key]:
        del counter[key]
