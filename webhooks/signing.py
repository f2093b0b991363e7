"""Signs the exact bytes of envelopes and builds their HTTP headers."""

import base64
import hashlib
import struct
from binascii import b2a_base64
from collections.abc import Callable
from typing import NamedTuple, Self

AGENCY_USER_AGENT = "Svc-Agency-Webhooks/1.0"
WORKSPACE_USER_AGENT = "Svc-Workspace-Webhooks/1.0"
CONTENT_TYPE = ("Content-Type", "application/json")
FOR_AGENCY = (CONTENT_TYPE, ("User-Agent", AGENCY_USER_AGENT))
FOR_WORKSPACE = (CONTENT_TYPE, ("User-Agent", WORKSPACE_USER_AGENT))
SECRET_PREFIX = "whsec_"  # noqa: S105  # the public prefix of every secret, not one of them
_URL_SAFE = str.maketrans("-_", "+/")
BLOCK = 64  # bytes that SHA-256 takes at once
_PACKED = struct.Struct(">q32s32s")


class Signature(NamedTuple):
    """The signatures of an attempt and their time (whole seconds since the epoch).

    `body` is the HMAC-SHA256 of the body for `X-Svc-Signature`. `message` is that of `id.timestamp.body` for
    `webhook-signature`. `previous_message` is the same with the previous secret, while that is valid.
    """

    timestamp: int
    body: bytes
    message: bytes
    previous_message: bytes | None = None

    def pack(self) -> bytes:
        """Return the bytes that an attempt's row stores."""
        return _PACKED.pack(*self[:3]) + (self.previous_message or b"")

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        timestamp, body, message = _PACKED.unpack(packed[: _PACKED.size])
        return cls(timestamp, body, message, packed[_PACKED.size :] or None)

    @property
    def message_signatures(self) -> str:
        """The value of `webhook-signature`, the new secret's signature first."""
        signed = [self.message] if self.previous_message is None else [self.message, self.previous_message]
        return " ".join(["v1," + b2a_base64(one, newline=False).decode() for one in signed])


class Signer:
    """Signs for one endpoint, with both keys prepared once. Raises `ValueError` for an invalid secret."""

    __slots__ = ("_of_body", "_of_message")

    def __init__(self, secret: str) -> None:
        self._of_body = hmac_sha256(secret.encode())
        self._of_message = hmac_sha256(_key(secret))

    def sign(self, *, envelope_id: str, timestamp: int, body: bytes) -> Signature:
        """Sign the exact bytes of a body with this timestamp."""
        message = b"%s.%d.%s" % (envelope_id.encode(), timestamp, body)
        return Signature(timestamp, self._of_body(body), self._of_message(message))


def hmac_sha256(key: bytes) -> Callable[[bytes], bytes]:
    """Return a function that computes HMAC-SHA256 with a key (RFC 2104). The inner and outer key are hashed only once.

    The standard library's object takes half as much time again for each message, as it wraps the same hashes in Python.
    """
    block = key.ljust(BLOCK, b"\0") if len(key) <= BLOCK else hashlib.sha256(key).digest().ljust(BLOCK, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest


def _key(secret: str) -> bytes:
    """Decode the 32 bytes of a secret. The first secrets were URL-safe base64 without padding."""
    text = secret.removeprefix(SECRET_PREFIX).translate(_URL_SAFE)
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def headers(
    *, event: str, envelope_id: str, signature: Signature, is_for_workspace: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return the headers of a delivery's request."""
    return (
        *(FOR_WORKSPACE if is_for_workspace else FOR_AGENCY),
        ("X-Svc-Event", event),
        ("X-Svc-Delivery", envelope_id),
        ("X-Svc-Signature", f"sha256={signature.body.hex()}"),
        ("webhook-id", envelope_id),
        ("webhook-timestamp", str(signature.timestamp)),
        ("webhook-signature", signature.message_signatures),
    )
