"""Finds a session by its secret link, its id, the provider's state, or the agency's Idempotency-Key."""

import re
from uuid import UUID

from agency.models import Agency
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import ConnectSessionQuerySet
from channelconnect.services.sessions.secrets import digest
from config.errors import NotFound

STATE = re.compile(r"([0-9a-f]{32})[\w-]{43}", re.ASCII)


class ConnectionNotFound(NotFound):
    message = "Connection not found."


def _sessions() -> ConnectSessionQuerySet:
    return ConnectSession.objects.select_related("agency", "workspace", "channel", "target")


def session_by_link(link: str) -> ConnectSession | None:
    return _sessions().filter(link_digest=digest(link)).first()


def session_by_id(uuid: UUID | None) -> ConnectSession | None:
    return _sessions().filter(uuid=uuid).first() if uuid else None


def session_by_state(state: str) -> ConnectSession | None:
    """Find the session that a provider's state names, even if the state or the session is used up."""
    found = STATE.fullmatch(state)
    return session_by_id(UUID(found[1])) if found else None


def session_by_key(agency: Agency, key: str) -> ConnectSession | None:
    """Find the session that the agency started with this Idempotency-Key."""
    return _sessions().of(agency).filter(idempotency_key=key).first()
