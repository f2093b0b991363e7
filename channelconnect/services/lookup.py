"""Finding a session by what a browser brings: the secret link, the clean address's id, the provider's state."""

import re
from uuid import UUID

from django.db.models import QuerySet

from channelconnect.models import ConnectSession
from channelconnect.services.secrets import digest
from config.errors import NotFound

STATE = re.compile(r"([0-9a-f]{32})[\w-]{43}", re.ASCII)


class ConnectionNotFound(NotFound):
    message = "Connection not found."


def _sessions() -> "QuerySet[ConnectSession]":
    return ConnectSession.objects.select_related("agency", "workspace", "channel", "target")


def session_by_link(link: str) -> ConnectSession | None:
    return _sessions().filter(link_digest=digest(link)).first()


def session_by_id(uuid: UUID | None) -> ConnectSession | None:
    return _sessions().filter(uuid=uuid).first() if uuid else None


def session_by_state(state: str) -> ConnectSession | None:
    """Find the session that a provider's state names, whether or not it is still good for anything."""
    found = STATE.fullmatch(state)
    return session_by_id(UUID(found[1])) if found else None
