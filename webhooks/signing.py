"""How an envelope is sent: its headers, and the signature over the exact bytes."""

import hmac

USER_AGENT = "Svc-Agency-Webhooks/1.0"
CONTENT_TYPE = "application/json"


def signer(secret: str) -> hmac.HMAC:
    """HMAC-SHA256 keyed by the secret's own bytes, for `sign`."""
    return hmac.new(secret.encode(), digestmod="sha256")


def sign(*, signer: hmac.HMAC, body: bytes) -> bytes:
    """Sign the exact bytes of a body."""
    signature = signer.copy()
    signature.update(body)
    return signature.digest()


def headers(*, event: str, envelope_id: str, signature: bytes) -> tuple[tuple[str, str], ...]:
    """The headers that every delivery carries."""
    return (
        ("Content-Type", CONTENT_TYPE),
        ("User-Agent", USER_AGENT),
        ("X-Svc-Event", event),
        ("X-Svc-Delivery", envelope_id),
        ("X-Svc-Signature", f"sha256={signature.hex()}"),
    )
