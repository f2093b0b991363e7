"""Sample envelopes of events, for tests of endpoints and for the documentation."""

import uuid
from collections.abc import Container
from datetime import UTC, datetime

from agency.event_types import event_type
from agency.services import envelope
from agency.tenants import Audience, Tenant
from config.errors import InvalidInput
from webhooks.models import Endpoint

TENANTS = {
    Audience.AGENCY: Tenant(42),
    Audience.WORKSPACE: Tenant(42, 1, uuid.UUID("8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")),
}


class NothingToSample(InvalidInput):
    field = "event"
    message = "None of this webhook's events is in the catalogue now."


def sample_envelope(event: str) -> bytes:
    """Return a complete envelope as a receiver gets it, for the documentation."""
    declared = event_type(event)
    return envelope(
        id=uuid.UUID("5b0b1a52-6d4c-4f0e-8f5e-7c1f6f1f2a10"),
        event=event,
        occurred_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        tenant=TENANTS[declared.audience],
        data=declared.sample_data(),
    )


def sampled_event(endpoint: Endpoint, event: str | None, catalogue: Container[str]) -> str:
    """Return the event that a test samples: the requested one, else the endpoint's first event in the catalogue.

    Raises `NothingToSample` if there is none.
    """
    found = next((one for one in ([event] if event else endpoint.events) if one in catalogue), None)
    if found is None:
        raise NothingToSample
    return found
