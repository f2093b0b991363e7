"""The cryptography of Web Push: encrypted payloads (RFC 8291, RFC 8188) and signed requests (RFC 8292)."""

import base64
import binascii
import json
import secrets
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE: Final = ec.SECP256R1()
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
NUMBER_BYTES: Final = 32
RECORD_SIZE: Final = 4_096
# The one record is the last one (RFC 8188).
END: Final = b"\x02"


class KeyPair(NamedTuple):
    """A key pair of the curve P-256, as base64url."""

    public: str
    private: str


def make_key_pair() -> KeyPair:
    private = ec.generate_private_key(CURVE)
    number = private.private_numbers().private_value.to_bytes(NUMBER_BYTES, "big")
    return KeyPair(encode(_point(private.public_key())), encode(number))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Decode base64url, with or without padding. Raises ValueError."""
    try:
        bare = text.rstrip("=").encode("ascii")
        return base64.b64decode(bare + b"=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ValueError("This is not base64url.") from error


def parse_browser_keys(p256dh: str, auth: str) -> tuple[str, str]:
    """Check a browser's public key and secret, and return them without padding. Raises ValueError."""
    point, secret = decode(p256dh), decode(auth)
    if len(point) != POINT_BYTES or len(secret) != AUTH_BYTES:
        raise ValueError("A key of the browser has another length.")
    ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
    return encode(point), encode(secret)


def encrypt(
    text: bytes, *, p256dh: str, auth: str, salt: bytes | None = None, sender: ec.EllipticCurvePrivateKey | None = None
) -> bytes:
    """Encrypt a payload for one browser, as the body of a request with `Content-Encoding: aes128gcm`.

    `salt` and `sender` are random unless a test names them.
    """
    salt, sender = salt or secrets.token_bytes(16), sender or ec.generate_private_key(CURVE)
    point, own = decode(p256dh), _point(sender.public_key())
    shared = sender.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point))
    secret = _derive(shared, decode(auth), b"WebPush: info\0" + point + own, NUMBER_BYTES)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + RECORD_SIZE.to_bytes(4, "big") + bytes([len(own)]) + own
    return head + AESGCM(key).encrypt(nonce, text + END, None)


def authorization(*, origin: str, contact: str, expires: int, keys: KeyPair) -> str:
    """Return the header by which a push service knows the sender. `expires` is a Unix time within a day."""
    claims = {"aud": origin, "exp": expires, "sub": contact}
    signed = ".".join(encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
    private = ec.derive_private_key(int.from_bytes(decode(keys.private), "big"), CURVE)
    numbers = decode_dss_signature(private.sign(signed.encode(), ec.ECDSA(SHA256())))
    signature = b"".join(number.to_bytes(NUMBER_BYTES, "big") for number in numbers)
    return f"vapid t={signed}.{encode(signature)}, k={keys.public}"


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
