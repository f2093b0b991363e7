"""What every request of the product has to be like, whoever gets it."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.chaos.expectations import Key, Subscriber

FIELDS = {"id", "event", "occurred_at", "data"}
CLOCK_SECONDS = 60.0
# Events of this kind are the instrument's own, and have nothing but their id to tell them apart.
BULK = "chaos."


class Malformed(Exception):
    """A request that is not as the documentation says."""


class Envelope(NamedTuple):
    """What came, where and about what."""

    endpoint: int
    id: str
    key: Key
    data: dict[str, Any]


def read(subscriber: Subscriber, method: str, headers: Mapping[str, str], body: bytes, clock_off: float) -> Envelope:
    """Check a request and read its envelope. Raises `Malformed`; `clock_off` is how wrong the sender's clock may be."""
    envelope = _parsed(body)
    named = headers.get("x-svc-delivery")
    _require(method == "POST", f"the method is {method}")
    _require(headers.get("content-type") == "application/json", "the content type is another")
    _require(named == headers.get("webhook-id") == envelope["id"], "the headers name another envelope than the body")
    _require(headers.get("x-svc-event") == envelope["event"], "the headers name another event than the body")
    _require(envelope["event"] in subscriber.events, f"nobody asked for {envelope['event']}")
    _check_owner(subscriber, envelope)
    _check_signatures(subscriber.secret, headers, body, clock_off)
    return Envelope(subscriber.number, envelope["id"], key_of(envelope), envelope["data"])


def key_of(envelope: Mapping[str, Any]) -> Key:
    """What an envelope is about."""
    if envelope.get("test"):
        return Key("test", envelope["id"])
    if envelope["event"].startswith(BULK):
        return Key(envelope["event"], envelope["id"])
    return Key(envelope["event"], envelope["data"]["workspace"]["name"])


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        envelope = json.loads(body)
    except ValueError:
        raise Malformed("the body is not JSON") from None
    _require(isinstance(envelope, dict) and set(envelope) >= FIELDS, "fields of the envelope are missing")
    _require(isinstance(envelope["data"], dict), "data is no object")
    found: dict[str, Any] = envelope
    return found


def _check_owner(subscriber: Subscriber, envelope: Mapping[str, Any]) -> None:
    name, value = subscriber.owner
    _require(envelope.get(name) == value, f"the envelope is another owner's than the endpoint: {envelope.get(name)}")
    _require(set(envelope) - {"test"} == FIELDS | {name}, "the envelope has fields of its own")


def _check_signatures(secret: str, headers: Mapping[str, str], body: bytes, clock_off: float) -> None:
    simple = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    _require(headers.get("x-svc-signature") == f"sha256={simple}", "X-Svc-Signature does not fit the body")
    timestamp = headers.get("webhook-timestamp", "")
    _require(timestamp.isdecimal(), "there is no timestamp")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    standard = "v1," + base64.b64encode(hmac.digest(key, message, "sha256")).decode()
    _require(headers.get("webhook-signature") == standard, "webhook-signature does not fit the body")
    _require(abs(time.time() - int(timestamp)) <= CLOCK_SECONDS + clock_off, "the timestamp is not of now")


def _require(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise Malformed(otherwise)
