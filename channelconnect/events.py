"""The events that a session's end sends, and what they look like."""

from typing import Any

from agency.models import Agency
from channelconnect.models import ConnectSettings
from webhooks.services import EventSource

COMPLETED = "channel.connection.completed"
FAILED = "channel.connection.failed"
CANCELLED = "channel.connection.cancelled"
EXPIRED = "channel.connection.expired"

LABELS: dict[str, str] = {
    COMPLETED: "Channel connection completed",
    FAILED: "Channel connection failed",
    CANCELLED: "Channel connection cancelled",
    EXPIRED: "Channel connection expired",
}
CHANNEL = "0c6b1f7a-3f57-4b7e-9d5b-7a2b8d1e4c33"


def _sample(status: str, *, channel_id: str | None = None, error_code: str | None = None) -> dict[str, Any]:
    return {
        "id": "e2a94c1d-7b06-4d5f-8a3c-91f0b6d2c7e8",
        "workspace_id": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
        "platform": "whatsapp",
        "status": status,
        "channel_id": channel_id,
        "error_code": error_code,
        "state": "customer-4711",
        "expires_at": "2026-11-20T10:00:00Z",
    }


SAMPLES: dict[str, dict[str, Any]] = {
    COMPLETED: _sample("connected", channel_id=CHANNEL),
    FAILED: _sample("failed", error_code="no_eligible_accounts"),
    CANCELLED: _sample("cancelled", error_code="authorization_not_completed"),
    EXPIRED: _sample("expired", error_code="session_expired"),
}


def _may_connect(agency: Agency) -> bool:
    return ConnectSettings.objects.filter(agency=agency, enabled=True).exists()


# In the catalogue of every agency that may connect channels.
SOURCE = EventSource(name="channelconnect", labels=LABELS, samples=SAMPLES, is_open_to=_may_connect)
