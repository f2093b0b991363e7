"""A push service: takes alerts over TLS as a browser's service does, and reads them with the browser's private key."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trustme
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agency.services.notifications.web_push import CURVE, decode, encode
from tests.config.http.receivers import LOOPBACK, Connection, Received, Receiver, server_tls

CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
AUTH = bytes(range(16))


class PushService:
    """`answers` are given in turn, the last one again and again. `authority` signs the certificate."""

    def __init__(self) -> None:
        self.authority = trustme.CA()
        self.answers = [CREATED]
        self.browser = ec.generate_private_key(CURVE)
        self.receiver = Receiver(self._behave, tls=server_tls(self.authority, "127.0.0.1"))

    @property
    def point(self) -> bytes:
        return self.browser.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.receiver.port}"

    def subscription(self, name: str = "one") -> dict[str, str]:
        """What a browser of this service gives to a page."""
        return {"endpoint": f"{self.origin}/send/{name}", "p256dh": encode(self.point), "auth": encode(AUTH)}

    @property
    def requests(self) -> list[Received]:
        return self.receiver.requests

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """What the browsers would show."""
        return [json.loads(self.read(request.body)) for request in self.requests]

    def read(self, body: bytes) -> bytes:
        salt, own, sealed = body[:16], body[21 : 21 + body[20]], body[21 + body[20] :]
        shared = self.browser.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, own))
        secret = HKDF(SHA256(), 32, AUTH, b"WebPush: info\0" + self.point + own).derive(shared)
        key, nonce = (
            HKDF(SHA256(), length, salt, b"Content-Encoding: " + name + b"\0").derive(secret)
            for name, length in ((b"aes128gcm", 16), (b"nonce", 12))
        )
        return AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0").removesuffix(b"\x02")

    def _behave(self, connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            self.receiver.requests.append(request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if not answer:
                connection.hang()
                return
            connection.send(answer)


def claims_of(request: Received) -> tuple[dict[str, Any], str]:
    """Verify a request's signature; gives what it claims, and the sender's public key."""
    token, key = request.headers["authorization"].removeprefix("vapid t=").split(", k=")
    head, claims, signature = token.split(".")
    numbers = decode(signature)
    halves = encode_dss_signature(int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big"))
    public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(key))
    public.verify(halves, f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    assert json.loads(decode(head))["alg"] == "ES256"
    return json.loads(decode(claims)), key


@contextmanager
def push_service(settings: Any, folder: Path) -> Iterator[PushService]:
    """A service whose authority and network the product accepts meanwhile."""
    service = PushService()
    service.authority.cert_pem.write_to_path(str(folder / "push-ca.pem"))
    settings.WEBHOOK_CA_FILE, settings.WEBHOOK_ALLOWED_NETWORKS = str(folder / "push-ca.pem"), LOOPBACK
    settings.PUSH_SERVICES = [*settings.PUSH_SERVICES, "127.0.0.1"]
    yield service
    service.receiver.close()
