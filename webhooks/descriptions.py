"""What the agency's OpenAPI document says of the events that are sent."""

from collections.abc import Iterator
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


def body_schema(event: str) -> dict[str, Any]:
    """The JSON schema of an event's envelope."""
    data = {"workspace": WORKSPACE, **MORE.get(event, {})}
    return {
        "type": "object",
        "required": ["id", "event", "occurred_at", "agency_id", "data"],
        "properties": {
            "id": UUID,
            "event": {"const": event},
            "occurred_at": {"type": "string", "format": "date-time"},
            "agency_id": {"type": "integer"},
            "data": {"type": "object", "required": list(data), "properties": data},
            "test": {"const": True, "description": "Only on test deliveries."},
        },
    }


def agency_events() -> Iterator[EventDescription]:
    """Describe every event of the lifecycle, with a full sample."""
    for event, label in events.LIFECYCLE.items():
        yield EventDescription(
            name=event,
            summary=label,
            body=body_schema(event),
            example=orjson.loads(sample_envelope(event)),
            headers=HEADERS,
        )
