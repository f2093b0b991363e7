"""Signed tokens that carry their own content, so that the sandbox keeps no list of tokens."""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import asdict, dataclass
from typing import Final

from tools.sandbox.graph.errors import Refused

PREFIX: Final = "EAAS"
SHORT_SECONDS: Final = 5_400
LONG_SECONDS: Final = 60 * 24 * 3600
SIGNATURE_BYTES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """`chosen` None: all accounts of the person. `page` makes it a Page's token. `expires_at` 0: never."""

    person: str
    kind: str
    granted: tuple[str, ...]
    declined: tuple[str, ...] = ()
    chosen: tuple[str, ...] | None = None
    expires_at: int = 0
    page: str = ""
    nonce: str = ""

    def has_expired(self) -> bool:
        return 0 < self.expires_at <= time.time()

    def may_see(self, *ids: str) -> bool:
        return self.chosen is None or any(key in self.chosen for key in ids)


def write(token: Token, secret: str) -> str:
    fields = asdict(token) | {"nonce": token.nonce or secrets.token_hex(4)}
    body = json.dumps(fields, separators=(",", ":")).encode()
    return PREFIX + base64.urlsafe_b64encode(_sign(body, secret) + body).decode().rstrip("=")


def read(text: str, secret: str) -> Token:
    """Give a token's content. Raises `Refused` for a token that is not ours."""
    try:
        packed = text.removeprefix(PREFIX)
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    except (binascii.Error, ValueError):
        raise Refused("token_garbled", token=text) from None
    signature, body = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
    if not text.startswith(PREFIX) or not hmac.compare_digest(signature, _sign(body, secret)):
        raise Refused("token_garbled", token=text)
    fields = json.loads(body)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Token(**{**fields, **lists})


def _sign(body: bytes, secret: str) -> bytes:
    return hmac.new(secret.encode(), body, hashlib.sha256).digest()[:SIGNATURE_BYTES]
