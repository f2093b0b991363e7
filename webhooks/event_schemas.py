"""What the agency's OpenAPI document says of the events that are sent."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from agency import events
from config.api.documents.events import EventDescription
from webhooks.services.samples import sample_envelope

TEXT = {"type": "string"}
UUID = {"type": "string", "format": "uuid"}
REFERENCE = {"type": "object", "required": ["uuid", "name"], "properties": {"uuid": UUID, "name": TEXT}}
WORKSPACE = {
    "type": "object",
    "required": ["uuid", "name", "status", "plan"],
    "properties": {
        "uuid": UUID,
        "name": TEXT,
        "status": {"type": "string", "enum": ["active", "suspended"]},
        "plan": {"oneOf": [REFERENCE, {"type": "null"}]},
    },
}
MORE: dict[str, dict[str, Any]] = {
    events.SUBSCRIPTION_CHANGED: {"plan": REFERENCE},
    events.ADDON_GRANTED: {"addon": REFERENCE},
    events.ADDON_REVOKED: {"addon": REFERENCE},
}
HEADERS = {
    "X-Svc-Event": "The event's name.",
    "X-Svc-Delivery": "The envelope's id, the same on every attempt and redelivery.",
    "X-Svc-Signature": "`sha256=` and the lower-case hex HMAC-SHA256 of the raw body, keyed by the endpoint's secret.",
}


def envelope_schema(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an event's envelope, whose `data` has these properties, all of them always there."""
    return {
        "type": "object",
        "required": ["id", "event", "occurred_at", "agency_id", "data"],
        "properties": {
            "id": UUID,
            "event": {"const": event},
            "occurred_at": {"type": "string", "format": "date-time"},
            "agency_id": {"type": "integer"},
            "data": {"type": "object", "required": list(data), "properties": dict(data)},
            "test": {"const": True, "description": "Only on test deliveries."},
        },
    }


def describe(event: str, label: str, data: Mapping[str, Any]) -> EventDescription:
    """Describe an event whose `data` has these properties, with a full sample."""
    return EventDescription(
        name=event,
        summary=label,
        body=envelope_schema(event, data),
        example=orjson.loads(sample_envelope(event)),
        headers=HEADERS,
    )


def agency_events() -> Iterator[EventDescription]:
    """Describe every event of the lifecycle."""
    for event, label in events.LIFECYCLE.items():
        yield describe(event, label, {"workspace": WORKSPACE, **MORE.get(event, {})})
