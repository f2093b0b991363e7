"""Sample data of each event: what a test sends, what the documentation shows."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agency import events
from agency.services import envelope
from agency.tenants import Tenant
from webhooks.services.catalogue import event_sources

PLAN = {"uuid": "3f0c8a52-6f0e-4d86-9c56-0d1f4c9a7b11", "name": "Growth"}
ADDON = {"uuid": "b7c1b2de-0a65-4a40-8f0b-5f2a6d0c9e42", "name": "Extra WhatsApp number"}
WORKSPACE = {
    "uuid": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
    "name": "Sample sub-account",
    "status": "active",
    "plan": PLAN,
}

SAMPLES: dict[str, dict[str, Any]] = {
    events.WORKSPACE_CREATED: {"workspace": WORKSPACE},
    events.WORKSPACE_SUSPENDED: {"workspace": {**WORKSPACE, "status": "suspended"}},
    events.WORKSPACE_RESTORED: {"workspace": WORKSPACE},
    events.SUBSCRIPTION_CHANGED: {"workspace": WORKSPACE, "plan": PLAN},
    events.ADDON_GRANTED: {"workspace": WORKSPACE, "addon": ADDON},
    events.ADDON_REVOKED: {"workspace": WORKSPACE, "addon": ADDON},
}


def sample_data(event: str) -> Mapping[str, Any]:
    """The `data` of an event of this name, about a sub-account that does not exist."""
    samples: dict[str, Mapping[str, Any]] = {**SAMPLES}
    for source in event_sources:
        samples |= source.samples
    return samples[event]


def sample_envelope(event: str) -> bytes:
    """A whole envelope as a receiver gets it, for the documentation."""
    return envelope(
        id=uuid.UUID("5b0b1a52-6d4c-4f0e-8f5e-7c1f6f1f2a10"),
        event=event,
        occurred_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        tenant=Tenant(42),
        data=sample_data(event),
    )
