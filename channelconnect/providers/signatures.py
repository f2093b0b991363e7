"""Signatures of the provider's callbacks, and the proof that our address is ours."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

PREFIX: Final = "sha256="


def sign(body: bytes, secret: str) -> str:
    """Return the value of `X-Hub-Signature-256` for a body."""
    return PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def verify_signature(body: bytes, header: str | None, secret: str) -> bool:
    """Verify a signature over the raw body, in constant time. Without a secret no signature is valid."""
    if not secret or not header:
        return False
    return hmac.compare_digest(sign(body, secret).encode(), header.encode("utf-8", "replace"))


def answer_challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """Return the text that proves to the provider that this address is ours; None refuses the challenge."""
    given = query.get("hub.verify_token", "")
    is_ours = bool(verify_token) and hmac.compare_digest(given.encode("utf-8", "replace"), verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not is_ours:
        return None
    return query.get("hub.challenge", "")
