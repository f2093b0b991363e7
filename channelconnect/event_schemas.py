"""What the agency's OpenAPI document says of a session's events."""

from collections.abc import Iterator

from channelconnect.codes import ERROR_CODES
from channelconnect.events import LABELS
from channelconnect.models.sessions import Platform, Status
from config.api.documents.events import EventDescription
from webhooks.event_schemas import TEXT, UUID, describe

NULL = {"type": "null"}
CONNECTION = {
    "id": UUID,
    "workspace_id": UUID,
    "platform": {"type": "string", "enum": Platform.values},
    "status": {"type": "string", "enum": Status.values},
    "channel_id": {"oneOf": [UUID, NULL]},
    "error_code": {"oneOf": [{"type": "string", "enum": list(ERROR_CODES)}, NULL]},
    "state": {"oneOf": [TEXT, NULL]},
    "expires_at": {"type": "string", "format": "date-time"},
}


def connection_events() -> Iterator[EventDescription]:
    """Describe the four events; their data is the connection as a status read gives it."""
    for event, label in LABELS.items():
        yield describe(event, label, CONNECTION)
