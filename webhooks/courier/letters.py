"""What is sent: the headers and the signature over the exact bytes."""

import hashlib
import hmac
from functools import lru_cache
from uuid import UUID

from config.db import EncryptedTextField
from webhooks.models import Endpoint

USER_AGENT = "Svc-Agency-Webhooks/1.0"


def signature(*, secret: str, body: bytes) -> str:
    """`sha256=` and the lower-case hex HMAC-SHA256 of the body, keyed by the secret's own bytes."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(*, event: str, envelope_id: UUID, body: bytes, secret: str | None) -> dict[str, str]:
    """The headers of one delivery; without a secret there is no signature."""
    named = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Svc-Event": event,
        "X-Svc-Delivery": str(envelope_id),
    }
    if secret is not None:
        named["X-Svc-Signature"] = signature(secret=secret, body=body)
    return named


@lru_cache(maxsize=2_000)
def open_secret(sealed: bytes) -> str:
    """Decrypt an endpoint's secret; a rotated one is another ciphertext, so nothing here goes stale."""
    field = Endpoint._meta.get_field("secret")
    assert isinstance(field, EncryptedTextField)  # noqa: S101  # tells the type checker what the model declares
    return field.open(sealed)
