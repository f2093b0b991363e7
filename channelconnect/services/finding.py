"""Finding a session by what a browser brings: the secret link, the clean address's id, the provider's state."""

import hashlib
import re
import secrets
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status

STATE = re.compile(r"([0-9a-f]{32})[\w-]{43}", re.ASCII)


def digest(text: str) -> bytes:
    """What is stored in place of a link, a browser's cookie or a provider's state: SHA-256, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def new_secret() -> str:
    """256 random bits in 43 characters."""
    return secrets.token_urlsafe(32)


def new_state(session: ConnectSession) -> str:
    """A state for one way to the provider and back; it names the session, so that a used one still leads there."""
    return session.uuid.hex + new_secret()


def _sessions() -> "QuerySet[ConnectSession]":
    return ConnectSession.objects.select_related("agency", "workspace", "channel", "target")


def session_of_link(link: str) -> ConnectSession | None:
    """Find a session by its secret link."""
    return _sessions().filter(link_digest=digest(link)).first()


def session_of_id(uuid: UUID | None) -> ConnectSession | None:
    return _sessions().filter(uuid=uuid).first() if uuid else None


def session_of_state(state: str) -> ConnectSession | None:
    """Find the session that a provider's state names, whether or not it is still good for anything."""
    found = STATE.fullmatch(state)
    return session_of_id(UUID(found[1])) if found else None


def status_at(session: ConnectSession, now: datetime | None) -> tuple[str, str | None]:
    """Status and error code as people read them: past its time a session has expired, even before the sweep."""
    if now is not None and session.is_open and session.expires_at <= now:
        return Status.EXPIRED.value, "session_expired"
    return Status(session.status).value, session.error_code
