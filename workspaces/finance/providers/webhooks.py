"""Verifies the signatures of Stripe's webhooks and reads which object an event is about."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Final

from workspaces.finance.providers.answers import LONGEST_ID
from workspaces.finance.providers.stripe import EVENTS

LONGEST_HEADER: Final = 1_000
# Stripe's own library accepts any time in the future; a signature of tomorrow could be used for a day.
MOST_SECONDS_OFF: Final = 300


@dataclass(frozen=True, slots=True)
class ProviderNotice:
    """An event's id and kind, the object's id, and our own id if the object carries it."""

    event_id: str
    kind: str
    object_id: str
    reference: str


def verify_signature(body: bytes, header: str, secret: str, *, now: float) -> bool:
    """Verify `t=…,v1=…` over the raw body in constant time. Several `v1` are tried; other schemes count for nothing."""
    if not secret or not header or len(header) > LONGEST_HEADER:
        return False
    pairs = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in pairs if name == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdigit() and len(times[0]) <= 12):
        return False
    if abs(now - int(times[0])) > MOST_SECONDS_OFF:
        return False
    right = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    given = [value.encode("utf-8", "replace") for name, value in pairs if name == "v1"]
    return any(hmac.compare_digest(right, one) for one in given)


def read_notice(body: bytes) -> ProviderNotice | None:
    """Read an event; None for a kind that we do not ask for, or a body without an event in it."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    data = found.get("data") if isinstance(found, dict) else None
    subject = data.get("object") if isinstance(data, dict) else None
    if not isinstance(subject, dict) or found.get("type") not in EVENTS:
        return None
    ids = (found.get("id"), subject.get("id"))
    if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_ID for one in ids):
        return None
    reference = subject.get("client_reference_id")
    return ProviderNotice(str(ids[0]), found["type"], str(ids[1]), reference if isinstance(reference, str) else "")
