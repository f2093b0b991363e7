"""Brakes slow down or stop all sending that shares a used-up limit of the app or of an account at the provider.

An account is a WhatsApp business account or a Page; its brake slows no other account. A brake stops all sending for
the time that the provider names. After that, or if much of a limit is used but not all, the brake limits messages a
second, and urgent ones go first. The rate grows step by step until the brake is off. Other senders read brakes from
the database.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from requests.structures import CaseInsensitiveDict

from channelconnect.providers.message_results import Backoff, Outcome
from channelconnect.providers.parsing import HEADERS, Used, used_of
from config.http.transfer import Result
from config.leases.connections import Connection
from config.metrics import count
from config.postgresql.arrays import decimals, texts

# Each scope has a row with the number of its pulls.

# A newly started sender applies brakes up to this old, although the others have been releasing them since.
ADOPT_SECONDS = 300
KEPT_SECONDS = 24 * 3_600

WRITE = """
INSERT INTO channelconnect_providerbrake AS known (scope, share, pulled_at, stopped_until, pulls)
SELECT told.scope, told.share, clock_timestamp(), clock_timestamp() + make_interval(secs => told.seconds), 1
FROM unnest(%(scopes)s::text[], %(shares)s::float8[], %(seconds)s::float8[]) AS told (scope, share, seconds)
ORDER BY told.scope
ON CONFLICT (scope) DO UPDATE SET share = excluded.share, pulled_at = excluded.pulled_at, pulls = known.pulls + 1,
    stopped_until = greatest(known.stopped_until, excluded.stopped_until)
"""
FORGET = """
DELETE FROM channelconnect_providerbrake
WHERE greatest(pulled_at, stopped_until) < clock_timestamp() - make_interval(secs => %(kept)s)
"""
READ = """
SELECT scope, share, extract(epoch FROM stopped_until - clock_timestamp())::float8, pulls
FROM channelconnect_providerbrake
WHERE greatest(pulled_at, stopped_until) > clock_timestamp() - make_interval(secs => %(told)s)
"""


class Pull(NamedTuple):
    """A pull of a brake: to `share` of the earlier rate, after a stop of `seconds`. `number` counts a scope's pulls."""

    scope: str
    share: float
    seconds: float
    number: int = 0


def write_pulls(connection: Connection, pulls: Iterable[Pull]) -> None:
    """Write pulls for other senders. Pulls of one scope become one with the longest stop and the smallest share."""
    by_scope: dict[str, Pull] = {}
    for pull in pulls:
        known = by_scope.get(pull.scope, pull)
        by_scope[pull.scope] = Pull(pull.scope, min(pull.share, known.share), max(pull.seconds, known.seconds))
    values = {
        "scopes": texts(by_scope),
        "shares": decimals(pull.share for pull in by_scope.values()),
        "seconds": decimals(pull.seconds for pull in by_scope.values()),
    }
    connection.execute(WRITE, values, prepare=True)
    connection.execute(FORGET, {"kept": KEPT_SECONDS}, prepare=True)


def read_pulls(connection: Connection) -> list[Pull]:
    """Return the brakes that any sender has pulled recently."""
    return [Pull._make(row) for row in connection.execute(READ, {"told": ADOPT_SECONDS}, prepare=True)]


logger = logging.getLogger(__name__)

APP: Final = "app"
# Stops without a time from the provider, by the number of stops so far; the last one repeats.
STOPS: Final = (5.0, 20.0, 60.0)
LONGEST_STOP: Final = 24 * 3_600.0
# The share of the earlier rate after a stop, and the smallest share.
LEAST_SHARE: Final = 1 / 8
LEAST_RATE: Final = 2.0
FASTER: Final = 1.1
CLEAN_SECONDS: Final = 10.0
# Half of a burst is kept for urgent messages.
BURST_SECONDS: Final = 0.5
FORGET_SECONDS: Final = 60.0
TELL_EVERY_SECONDS: Final = 1.0
NO_BRAKE: Final = 1_000_000_000


class Flow:
    """The rate of messages through a scope, counted over whole seconds."""

    def __init__(self, now: float) -> None:
        self.used_at = now
        self._began, self._number, self._rate = now, 0, 0.0

    def add(self, number: int, now: float) -> None:
        if now - self._began >= 1.0:
            self._rate, self._began, self._number = self._number / (now - self._began), now, 0
        self._number += number
        self.used_at = now

    @property
    def rate(self) -> float:
        return max(self._rate, float(self._number))


class Brake:
    """An applied brake. Another thread may read `room`, so values that change together are replaced as one tuple."""

    def __init__(self, most: float, now: float) -> None:
        self.most = max(most, LEAST_RATE / LEAST_SHARE)
        self.stopped_until = now
        self.stops = 0
        self._changed_at = now
        self._told_at = -TELL_EVERY_SECONDS
        self._state = (0.0, now, self.most)  # messages that may go, at which time, and how many more a second

    def is_stopped(self, now: float) -> bool:
        return now < self.stopped_until

    def room(self, now: float, *, is_urgent: bool) -> int:
        if self.is_stopped(now):
            return 0
        burst = self._burst
        return max(0, int(self._tokens_at(now)) - (0 if is_urgent else math.ceil(burst / 2)))

    def take(self, number: int, now: float) -> None:
        self._state = (self._tokens_at(now) - number, now, self._state[2])

    def stop(self, until: float, now: float) -> None:
        self.stopped_until = max(until, self.stopped_until)
        self.slow_to(LEAST_SHARE, now)
        self._state = (0.0, max(now, self.stopped_until), self._state[2])

    def slow_to(self, share: float, now: float) -> None:
        """Limit the rate to this share of the earlier rate."""
        rate = max(LEAST_RATE, self.most * max(share, LEAST_SHARE))
        self._state = (self._tokens_at(now), now, min(rate, self._state[2]))
        self._changed_at = now

    def recover(self, now: float) -> bool:
        """Raise the rate if there were no complaints for a while. Returns whether this takes the brake off."""
        if now - max(self._changed_at, self.stopped_until) < CLEAN_SECONDS:
            return False
        self._changed_at = now
        self._state = (self._tokens_at(now), now, self._state[2] * FASTER)
        return self._state[2] >= self.most

    def may_tell(self, now: float) -> bool:
        """Whether to report it to other senders, which happens at most once a second."""
        if now - self._told_at < TELL_EVERY_SECONDS:
            return False
        self._told_at = now
        return True

    @property
    def _burst(self) -> float:
        return max(2.0, self._state[2] * BURST_SECONDS)

    def _tokens_at(self, now: float) -> float:
        tokens, at, rate = self._state
        return min(max(2.0, rate * BURST_SECONDS), tokens + max(0.0, now - at) * rate)


class Brakes:
    """All brakes of one run. The loop's thread pulls them; the claimer's thread reads them and tells other senders."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._on: dict[str, Brake] = {}
        self._flows: dict[str, Flow] = {}
        self._to_tell: deque[Pull] = deque()
        self._heard: deque[Pull] = deque()
        self._known: dict[str, int] = {}

    def start(self, account: str, number: int) -> None:
        """Count messages that are about to be sent."""
        now = self._clock()
        for scope in (APP, account):
            flow = self._flows.get(scope) or self._flows.setdefault(scope, Flow(now))
            flow.add(number, now)
            if brake := self._on.get(scope):
                brake.take(number, now)

    def scopes_of(self, account: str) -> list[str]:
        """Return the scopes of the brakes that apply to an account now."""
        return [scope for scope in (APP, account) if scope in self._on] if self._on else []

    def room(self, scope: str, *, is_urgent: bool) -> int:
        brake = self._on.get(scope)
        return NO_BRAKE if brake is None else brake.room(self._clock(), is_urgent=is_urgent)

    def is_stopped(self, account: str) -> bool:
        """Whether nothing of this account may be sent, not even urgent messages."""
        return bool(self._on) and (self.is_all_stopped or self._is_stopped(account))

    @property
    def is_all_stopped(self) -> bool:
        """Whether nothing of any account may be sent. The claimer's thread may call it."""
        return self._is_stopped(APP)

    def _is_stopped(self, scope: str) -> bool:
        brake = self._on.get(scope)
        return brake is not None and brake.is_stopped(self._clock())

    def stop(self, scope: str, seconds: float) -> None:
        """Stop a scope for this many seconds; 0 if the provider named no time."""
        now = self._clock()
        brake = self._pull(scope, now)
        if not seconds and not brake.is_stopped(now):
            seconds = STOPS[min(brake.stops, len(STOPS) - 1)]
        if now + seconds <= brake.stopped_until:
            return  # calls that were in flight together report the same stop
        brake.stops += 1
        brake.stop(now + min(seconds, LONGEST_STOP), now)
        self._to_tell.append(Pull(scope, LEAST_SHARE, brake.stopped_until - now))
        kind = APP if scope == APP else "account"
        count("sender_brakes_total", 1, kind)
        logger.warning("the provider asks to be left alone", extra={"scope": scope, "seconds": round(seconds)})

    def slow_to(self, scope: str, share: float) -> None:
        """Limit the rate to this share of the present rate."""
        now = self._clock()
        brake = self._pull(scope, now)
        brake.slow_to(share, now)
        if brake.may_tell(now):
            self._to_tell.append(Pull(scope, share, 0.0))

    def _pull(self, scope: str, now: float) -> Brake:
        brake = self._on.get(scope)
        if brake is None:
            flow = self._flows.get(scope)
            brake = self._on[scope] = Brake(flow.rate if flow else 0.0, now)
        return brake

    def tick(self) -> None:
        """Apply other senders' pulls, release brakes step by step, and drop unused counters."""
        now = self._clock()
        while self._heard:
            pull = self._heard.popleft()
            brake = self._pull(pull.scope, now)
            brake.slow_to(pull.share, now)
            if pull.seconds > 0:
                brake.stop(now + pull.seconds, now)
        for scope in [scope for scope, brake in self._on.items() if brake.recover(now)]:
            del self._on[scope]
        for scope in [scope for scope, flow in self._flows.items() if now - flow.used_at > FORGET_SECONDS]:
            del self._flows[scope]

    def exchange(self, connection: Connection) -> bool:
        """Write this sender's pulls and read those of others. Returns whether there was something to write.

        The claimer's thread calls it.
        """
        told = [self._to_tell.popleft() for _ in range(len(self._to_tell))]
        if told:
            write_pulls(connection, told)
        found = read_pulls(connection)
        for pull in self._news_of(found):
            self._heard.append(pull)
        self._known = {pull.scope: pull.number for pull in found}
        return bool(told)

    def _news_of(self, found: Iterable[Pull]) -> list[Pull]:
        return [pull for pull in found if self._known.get(pull.scope) != pull.number]


# These errors concern all calls of the app; other throttling errors concern the account's calls.
OF_APP: Final = frozenset({"4", "341"})
# In percent. From SLOW_DOWN_PERCENT on, more use means less sending; at STOP_PERCENT, sending stops.
SLOW_DOWN_PERCENT: Final = 80
STOP_PERCENT: Final = 100
MINUTE: Final = 60.0


def pull_brakes(brakes: Brakes, account: str, outcome: Outcome, result: Result) -> None:
    """Slow down or stop the app or the account, as an error or the usage headers say."""
    app, of_account = _used(result)
    error = outcome.error
    if error is not None and error.backoff is Backoff.THROTTLE:
        if error.code in OF_APP:
            brakes.stop(APP, app.minutes * MINUTE)
        else:
            brakes.stop(account, of_account.minutes * MINUTE)
    for scope, used in ((APP, app), (account, of_account)):
        if used.minutes or used.percent >= STOP_PERCENT:
            brakes.stop(scope, used.minutes * MINUTE)
        elif used.percent > SLOW_DOWN_PERCENT:
            brakes.slow_to(scope, (STOP_PERCENT - used.percent) / (STOP_PERCENT - SLOW_DOWN_PERCENT))


def _used(result: Result) -> tuple[Used, Used]:
    """Read the headers only if they are present; nearly all answers have none."""
    head = result.response_head.lower()
    if not any(name in head for name in HEADERS):
        return Used(), Used()
    return used_of(CaseInsensitiveDict(result.response_headers))
