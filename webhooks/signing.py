"""How an envelope is sent: its headers, and the signatures over its exact bytes."""

import base64
import hmac
import struct
from typing import NamedTuple, Self

AGENCY_USER_AGENT = "Svc-Agency-Webhooks/1.0"
WORKSPACE_USER_AGENT = "Svc-Workspace-Webhooks/1.0"
CONTENT_TYPE = "application/json"
SECRET_PREFIX = "whsec_"  # noqa: S105  # the public prefix of every secret, not one of them
_URL_SAFE = str.maketrans("-_", "+/")
_PACKED = struct.Struct(">q32s32s")


class Signature(NamedTuple):
    """What an attempt was signed with, and when (whole seconds since the epoch).

    `body` is the HMAC-SHA256 of the body for `X-Svc-Signature`, `message` that of `id.timestamp.body` for
    `webhook-signature`.
    """

    timestamp: int
    body: bytes
    message: bytes

    def pack(self) -> bytes:
        """The bytes that an attempt's row keeps."""
        return _PACKED.pack(*self)

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        return cls._make(_PACKED.unpack(packed))


class Signer:
    """Signs for one endpoint; both keys are set up once. Raises ValueError for what is no secret."""

    __slots__ = ("_body", "_message")

    def __init__(self, secret: str) -> None:
        self._body = hmac.new(secret.encode(), digestmod="sha256")
        self._message = hmac.new(_key(secret), digestmod="sha256")

    def sign(self, *, envelope_id: str, timestamp: int, body: bytes) -> Signature:
        """Sign the exact bytes of a body, at this moment."""
        one, other = self._body.copy(), self._message.copy()
        one.update(body)
        other.update(f"{envelope_id}.{timestamp}.".encode())
        other.update(body)
        return Signature(timestamp, one.digest(), other.digest())


def _key(secret: str) -> bytes:
    """Decode the 32 bytes of a secret. Those made first are URL-safe base64 without padding."""
    text = secret.removeprefix(SECRET_PREFIX).translate(_URL_SAFE)
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def headers(
    *, event: str, envelope_id: str, signature: Signature, is_for_workspace: bool = False
) -> tuple[tuple[str, str], ...]:
    """The headers that every delivery carries."""
    return (
        ("Content-Type", CONTENT_TYPE),
        ("User-Agent", WORKSPACE_USER_AGENT if is_for_workspace else AGENCY_USER_AGENT),
        ("X-Svc-Event", event),
        ("X-Svc-Delivery", envelope_id),
        ("X-Svc-Signature", f"sha256={signature.body.hex()}"),
        ("webhook-id", envelope_id),
        ("webhook-timestamp", str(signature.timestamp)),
        ("webhook-signature", f"v1,{base64.b64encode(signature.message).decode()}"),
    )
