"""A session's secrets: its link, its browser's cookie, its state at the provider. Stored digests recognise them."""

import hashlib
import secrets

from channelconnect.models import ConnectSession


def digest(secret: str) -> bytes:
    """Return the stored form of a secret: SHA-256, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()


def new_secret() -> str:
    """Return 256 random bits in 43 characters."""
    return secrets.token_urlsafe(32)


def new_state(session: ConnectSession) -> str:
    """Make a state for one trip to the provider and back. It names the session, so even a used state leads there."""
    return session.uuid.hex + new_secret()
