"""What must arrive and what has: each event once, its signature checked by the receiver's own means."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from tools.demo.receiver import Arrival

Fact = tuple[str, str]  # the event's name and the sub-account's uuid


@dataclass(frozen=True, slots=True)
class Expected:
    """An event that a call has caused; `answered_at` is when the caller had the answer."""

    fact: Fact
    about: str
    answered_at: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An expected event that has arrived; below zero milliseconds it overtook the answer of the call."""

    expected: Expected
    milliseconds: float


def flaw_of(arrival: Arrival, secret: str) -> str | None:
    """Say what is wrong with a delivery; None when headers, body and signature agree."""
    digest = hmac.new(secret.encode(), arrival.body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(arrival.headers.get("x-svc-signature", "").encode(), f"sha256={digest}".encode()):
        return "the signature does not fit the body"
    envelope = json.loads(arrival.body)
    if arrival.headers.get("x-svc-event") != envelope["event"]:
        return "the event's name in the header is not the body's"
    if arrival.headers.get("x-svc-delivery") != envelope["id"]:
        return "the envelope's id in the header is not the body's"
    return None


@dataclass
class Ledger:
    """Keeps the expected and the arrived; a second delivery of the same envelope is only counted."""

    expected: dict[Fact, Expected] = field(default_factory=dict)
    arrived: dict[Fact, float] = field(default_factory=dict)
    confirmed: dict[Fact, Confirmed] = field(default_factory=dict)
    flaws: list[str] = field(default_factory=list)
    repetitions: int = 0
    _bodies: dict[str, bytes] = field(default_factory=dict)

    @property
    def missing(self) -> list[Expected]:
        return [expected for fact, expected in self.expected.items() if fact not in self.confirmed]

    def expect(self, fact: Fact, about: str, answered_at: float) -> None:
        self.expected[fact] = Expected(fact, about, answered_at)

    def take(self, arrival: Arrival, secret: str) -> str | None:
        """Check an arrival and enter it; gives its flaw, if it has one."""
        flaw = flaw_of(arrival, secret) or self._contradiction(arrival)
        if flaw:
            self.flaws.append(flaw)
            return flaw
        envelope: dict[str, Any] = json.loads(arrival.body)
        if envelope["id"] in self._bodies:
            self.repetitions += 1
            return None
        self._bodies[envelope["id"]] = arrival.body
        workspace = envelope["data"].get("workspace") or {}
        self.arrived.setdefault((envelope["event"], str(workspace.get("uuid"))), arrival.at)
        return None

    def _contradiction(self, arrival: Arrival) -> str | None:
        before = self._bodies.get(arrival.headers["x-svc-delivery"])
        return "a repeated delivery has another body" if before not in (None, arrival.body) else None

    def settle(self) -> list[Confirmed]:
        """Match what is expected with what has arrived; gives the matches that are new."""
        new = [
            Confirmed(expected, (self.arrived[expected.fact] - expected.answered_at) * 1000)
            for expected in self.missing
            if expected.fact in self.arrived
        ]
        self.confirmed.update({found.expected.fact: found for found in new})
        return new
