"""Secrets of a session: its link, its browser's cookie, its state at the provider. Only their digests are stored."""

import hashlib
import secrets

from channelconnect.models import ConnectSession


def digest(secret: str) -> bytes:
    """Give what is stored instead of a secret: SHA-256, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()


def new_secret() -> str:
    """Give 256 random bits in 43 characters."""
    return secrets.token_urlsafe(32)


def new_state(session: ConnectSession) -> str:
    """Make a state for one way to the provider and back; it names the session, so that a used one still leads there."""
    return session.uuid.hex + new_secret()
