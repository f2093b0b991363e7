"""Describes the sent events for the OpenAPI documents."""

from collections.abc import Callable, Iterator

import orjson

from agency.event_types import EventType, declared_events
from agency.tenants import Audience
from config.api.documents.building import EventDescription
from webhooks.services.samples import sample_envelope

HEADERS = {
    "webhook-id": "The envelope's id, the same on every attempt and redelivery.",
    "webhook-timestamp": "Seconds since 1970 at which this attempt was signed.",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, as Standard Webhooks defines it.",
    "X-Svc-Event": "The event's name.",
    "X-Svc-Delivery": "The envelope's id once more.",
    "X-Svc-Signature": "`sha256=` and the lower-case hex HMAC-SHA256 of the raw body, keyed by the endpoint's secret.",
}
TENANT = {
    Audience.AGENCY: {"agency_id": {"type": "integer"}},
    Audience.WORKSPACE: {"workspace_id": {"type": "string", "format": "uuid"}},
}


def describe(declared: EventType) -> EventDescription:
    """Return the description of one event, with a full sample."""
    return EventDescription(
        name=declared.name,
        summary=declared.label,
        tenant=TENANT[declared.audience],
        data=declared.serializer,
        example=orjson.loads(sample_envelope(declared.name)),
        headers=HEADERS,
    )


def events_of(audience: Audience) -> Callable[[], Iterator[EventDescription]]:
    """Return a function that yields the descriptions of an audience's events."""
    return lambda: (describe(declared) for declared in declared_events(audience))
