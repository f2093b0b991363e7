"""Reads the events of Stripe, which come by webhook and in lists, and verifies the signatures of webhooks."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from workspaces.finance.providers.answers import LONGEST_ID
from workspaces.finance.providers.faults import ProviderFault

LONGEST_HEADER: Final = 1_000
# Stripe's own library accepts any time in the future; a signature of tomorrow could be used for a day.
MOST_SECONDS_OFF: Final = 300
# The kinds that we ask for, by webhook and in lists. Stripe lists at most twenty kinds at once.
EVENTS: Final = (
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.closed",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "payout.created",
    "payout.updated",
    "payout.paid",
    "payout.failed",
    "payout.canceled",
    "payout.reconciliation_completed",
)


@dataclass(frozen=True, slots=True)
class ProviderNotice:
    """An event's id and kind, the object's id, and our own id if the object carries it.

    `event_id` is empty for an object that was found without an event.
    """

    event_id: str
    kind: str
    object_id: str
    reference: str


# The lists in which events are looked for. Stripe keeps events for thirty days, and the objects themselves for ever.
EVENT_LIST: Final = "events"
OBJECT_LISTS: Final = {"refunds": "refund.updated", "disputes": "charge.dispute.created"}


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some rows of a list. `cursor` is the id of the last one, after which the list goes on; empty at its end."""

    notices: tuple[ProviderNotice, ...]
    cursor: str


def read_event(found: object) -> ProviderNotice | None:
    """Read an event; None for a kind that we do not ask for, or anything that is no event."""
    data = found.get("data") if isinstance(found, dict) else None
    subject = data.get("object") if isinstance(data, dict) else None
    if not isinstance(found, dict) or not isinstance(subject, dict) or found.get("type") not in EVENTS:
        return None
    ids = (found.get("id"), subject.get("id"))
    if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_ID for one in ids):
        return None
    reference = subject.get("client_reference_id")
    return ProviderNotice(str(ids[0]), found["type"], str(ids[1]), reference if isinstance(reference, str) else "")


def _read_object(found: object, kind: str) -> ProviderNotice | None:
    key = found.get("id") if isinstance(found, dict) else None
    return ProviderNotice("", kind, key, "") if isinstance(key, str) and 0 < len(key) <= LONGEST_ID else None


def read_page(name: str, found: Mapping[str, object], *, most: int) -> EventPage:
    """Read a page of the list with this name. Raises `ProviderFault` if it does not say where the list goes on."""
    rows = found.get("data")
    rows = rows[:most] if isinstance(rows, list) else []
    read = read_event if name == EVENT_LIST else partial(_read_object, kind=OBJECT_LISTS[name])
    notices = tuple(notice for notice in map(read, rows) if notice)
    if not found.get("has_more"):
        return EventPage(notices, "")
    last = _read_object(rows[-1], name) if rows else None
    if last is None:
        raise ProviderFault("unavailable", "odd list")
    return EventPage(notices, last.object_id)


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
    return read_event(found)
