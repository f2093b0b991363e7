"""Sample envelopes of each event: what a test sends, what the documentation shows."""

import uuid
from datetime import UTC, datetime

from agency.event_types import event_type
from agency.services import envelope


def sample_envelope(event: str) -> bytes:
    """A whole envelope as a receiver gets it, for the documentation."""
    return envelope(
        id=uuid.UUID("5b0b1a52-6d4c-4f0e-8f5e-7c1f6f1f2a10"),
        event=event,
        occurred_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        agency_id=42,
        data=event_type(event).sample_data(),
    )
