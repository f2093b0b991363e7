"""What came: each envelope at each endpoint, how often, and how it was answered."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.chaos.expectations import Expectations, Key
from tests.chaos.receiver.behaviour import Answer, Behaviour, Script
from tests.chaos.receiver.checks import BULK, Envelope, Malformed, read

AT_ONCE = 8


@dataclass
class Arrival:
    """An envelope at an endpoint. `came_at` has every request's time, `successes` how many were answered well."""

    key: Key
    script: Script
    data: dict[str, Any]
    came_at: list[float] = field(default_factory=list)
    successes: int = 0


class Arrivals:
    """Only the receivers' thread writes.

    `wrong` counts what must never be: requests that are malformed, foreign or too many at once. Until `overlap_until`
    an endpoint may get twice as many: what was in flight when its dispatcher was taken for lost, and the next one's.
    """

    def __init__(self, expectations: Expectations, behaviour: Behaviour) -> None:
        self.expectations = expectations
        self.behaviour = behaviour
        self.clock_off = 0.0
        self.found: dict[tuple[int, str], Arrival] = {}
        self.moments: list[float] = []
        self.wrong: Counter[str] = Counter()
        self.in_flight: Counter[int] = Counter()
        self.most_in_flight = 0
        self.overlap_until = 0.0
        self.bodies: dict[str, bytes] = {}
        self.bulk = 0

    def arrive(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[Arrival, Answer] | None:
        """Take a request in; None for one that no endpoint of ours should have got."""
        subscriber = self.expectations.subscribers.get(path)
        if subscriber is None:
            self._complain("a request to a path of nobody")
            return None
        try:
            envelope = read(subscriber, method, headers, body, self.clock_off)
        except Malformed as error:
            self._complain(str(error))
            return None
        self._compare(envelope, body)
        return self._take(envelope)

    def _take(self, envelope: Envelope) -> tuple[Arrival, Answer]:
        pair = (envelope.endpoint, envelope.id)
        arrival = self.found.get(pair)
        if arrival is None:
            script = self.behaviour.script(envelope.endpoint, envelope.key)
            arrival = self.found[pair] = Arrival(envelope.key, script, envelope.data)
            self.bulk += envelope.key.event.startswith(BULK)
        answer = arrival.script[min(len(arrival.came_at), len(arrival.script) - 1)]
        arrival.came_at.append(time.monotonic())
        return arrival, answer

    def _compare(self, envelope: Envelope, body: bytes) -> None:
        """The same envelope has the same bytes, at every attempt and every endpoint."""
        if self.bodies.setdefault(envelope.id, body) != body:
            self._complain("an envelope came with other bytes than before")

    def begin(self, path: str) -> None:
        """Count a request that has come whole and has no answer yet."""
        now = time.monotonic()
        self.moments.append(now)
        number = self._number(path)
        self.in_flight[number] += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight[number])
        if self.in_flight[number] > AT_ONCE * (1 if now > self.overlap_until else 2):
            self._complain(f"more than {AT_ONCE} requests at an endpoint at once")

    def end(self, path: str) -> None:
        """Count a request out, answered or gone."""
        self.in_flight[self._number(path)] -= 1

    def _number(self, path: str) -> int:
        subscriber = self.expectations.subscribers.get(path)
        return subscriber.number if subscriber else -1

    def _complain(self, sentence: str) -> None:
        self.wrong[sentence] += 1

    @property
    def times(self) -> dict[tuple[int, str], int]:
        """How often each envelope came to each endpoint."""
        return {pair: len(arrival.came_at) for pair, arrival in self.found.copy().items()}

    @property
    def is_busy(self) -> bool:
        """Whether a request waits for its answer now."""
        return any(count > 0 for count in self.in_flight.copy().values())

    @property
    def idle_seconds(self) -> float:
        """How long ago the latest arrival was."""
        return time.monotonic() - self.moments[-1] if self.moments else float("inf")

    def longest_pause(self, until: float) -> float:
        """The longest time without an arrival, between the first and a moment."""
        moments = [moment for moment in self.moments if moment <= until]
        return max((later - earlier for earlier, later in pairwise(moments)), default=0.0)
