"""Tracks which events must arrive and which have arrived, and checks their signatures as a receiver does."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from tools.demo.receiver import ReceivedRequest

EventKey = tuple[str, str]  # the event's name and the sub-account's uuid


@dataclass(frozen=True, slots=True)
class Expected:
    """An event that a call has caused. `answered_at` is when the caller had the answer (monotonic seconds)."""

    key: EventKey
    about: str
    answered_at: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An expected event that has arrived. `milliseconds` is below zero if it came before the call's answer."""

    expected: Expected
    milliseconds: float


def verification_error(delivery: ReceivedRequest, secret: str) -> str | None:
    """Say what is wrong with a delivery; None if headers, body and signature agree."""
    digest = hmac.new(secret.encode(), delivery.body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(delivery.headers.get("x-svc-signature", "").encode(), f"sha256={digest}".encode()):
        return "the signature does not fit the body"
    envelope = json.loads(delivery.body)
    if delivery.headers.get("x-svc-event") != envelope["event"]:
        return "the event's name in the header is not the body's"
    if delivery.headers.get("x-svc-delivery") != envelope["id"]:
        return "the envelope's id in the header is not the body's"
    return None


@dataclass
class EventTracker:
    """Keeps the expected and the arrived events. A second delivery of an envelope is only counted."""

    expected: dict[EventKey, Expected] = field(default_factory=dict)
    arrived: dict[EventKey, float] = field(default_factory=dict)
    confirmed: dict[EventKey, Confirmed] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    repetitions: int = 0
    _bodies: dict[str, bytes] = field(default_factory=dict)

    @property
    def missing(self) -> list[Expected]:
        return [expected for key, expected in self.expected.items() if key not in self.confirmed]

    def expect(self, key: EventKey, about: str, answered_at: float) -> None:
        self.expected[key] = Expected(key, about, answered_at)

    def take(self, delivery: ReceivedRequest, secret: str) -> str | None:
        """Check a delivery and record it; say what is wrong with it, if anything."""
        error = verification_error(delivery, secret) or self._contradiction(delivery)
        if error:
            self.errors.append(error)
            return error
        envelope: dict[str, Any] = json.loads(delivery.body)
        if envelope["id"] in self._bodies:
            self.repetitions += 1
            return None
        self._bodies[envelope["id"]] = delivery.body
        workspace = envelope["data"].get("workspace") or {}
        self.arrived.setdefault((envelope["event"], str(workspace.get("uuid"))), delivery.at)
        return None

    def _contradiction(self, delivery: ReceivedRequest) -> str | None:
        before = self._bodies.get(delivery.headers["x-svc-delivery"])
        return "a repeated delivery has another body" if before not in (None, delivery.body) else None

    def settle(self) -> list[Confirmed]:
        """Match expected events with arrived ones; give the new matches."""
        new = [
            Confirmed(expected, (self.arrived[expected.key] - expected.answered_at) * 1000)
            for expected in self.missing
            if expected.key in self.arrived
        ]
        self.confirmed.update({found.expected.key: found for found in new})
        return new
