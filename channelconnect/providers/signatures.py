"""Proofs of origin of what a provider sends us."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

PREFIX: Final = "sha256="


def sign(body: bytes, secret: str) -> str:
    """Give the value of `X-Hub-Signature-256` for a body."""
    return PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def verify_signature(body: bytes, header: str | None, secret: str) -> bool:
    """Compare in constant time, over the raw bytes; without a secret nothing is genuine."""
    if not secret or not header:
        return False
    return hmac.compare_digest(sign(body, secret).encode(), header.encode("utf-8", "replace"))


def answer_challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """Give the text that proves to the provider that this address is ours; None refuses."""
    given = query.get("hub.verify_token", "")
    is_ours = bool(verify_token) and hmac.compare_digest(given.encode("utf-8", "replace"), verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not is_ours:
        return None
    return query.get("hub.challenge", "")
