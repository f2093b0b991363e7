"""The event loop's copy of each endpoint: URL, secrets, and whether it is enabled."""

import logging
import time
from collections.abc import Sequence
from typing import Literal

from config.encryption import EncryptedTextField, UnreadableSecret
from config.http.guard import Network, URLRefused, VettedTarget, check_addresses, check_without_lookup, parse_target
from webhooks.dispatcher.queries import EndpointSnapshot
from webhooks.models import Endpoint
from webhooks.signing import Signature, Signer

logger = logging.getLogger(__name__)
# A change in the snapshot's fields before this one needs a new `Destination`.
COMPARED = EndpointSnapshot._fields.index("previous_secret_seconds")


class Destination:
    """One endpoint as its row was last read. `refusal` is set if nothing may be sent to its URL."""

    __slots__ = (
        "_allowed",
        "_answer",
        "_previous_ends_at",
        "_previous_signer",
        "_signer",
        "_snapshot",
        "_vetted",
        "host",
        "is_open",
        "is_removed",
        "refusal",
        "url",
        "vetted_address",
    )

    def __init__(self, snapshot: EndpointSnapshot, allowed: Sequence[Network]) -> None:
        self._snapshot = snapshot
        self.url = snapshot.url
        self.is_open = snapshot.is_open
        self.is_removed = snapshot.is_removed
        self._signer = _signer(snapshot, "secret")
        self._previous_signer = _signer(snapshot, "previous_secret")
        self._previous_ends_at = time.monotonic() + (snapshot.previous_secret_seconds or 0.0)
        self.host = ""
        self.refusal: URLRefused | None = None
        self.vetted_address: VettedTarget | None = None  # set if the host is an IP address
        self._allowed = allowed
        self._answer: tuple[str, ...] = ()
        self._vetted: VettedTarget | None = None
        try:
            target = parse_target(snapshot.url)
            self.host = target.host
            self.vetted_address = check_without_lookup(target, allowed=allowed)
        except URLRefused as refusal:
            self.refusal = refusal

    def is_as(self, snapshot: EndpointSnapshot) -> bool:
        """Return whether the snapshot changes nothing. A recently edited endpoint is read several times."""
        return self._snapshot[:COMPARED] == snapshot[:COMPARED]  # the other fields do not matter here

    def sign(self, *, envelope_id: str, body: bytes) -> Signature | None:
        """Sign a body, also with the previous secret while it is valid. Return None if the secret is unreadable."""
        if self._signer is None:
            return None
        now = int(time.time())
        signature = self._signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        if self._previous_signer is None or time.monotonic() >= self._previous_ends_at:
            return signature
        previous = self._previous_signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        return signature._replace(previous_message=previous.message)

    def check(self, answer: tuple[str, ...]) -> VettedTarget:
        """Check the addresses that the name resolves to. The same answer is checked once. Raises `URLRefused`."""
        if self._vetted is None or self._answer != answer:
            self._vetted = check_addresses(parse_target(self.url), answer, allowed=self._allowed)
            self._answer = answer
        return self._vetted


def _signer(snapshot: EndpointSnapshot, name: Literal["secret", "previous_secret"]) -> Signer | None:
    """Return a signer with the endpoint's decrypted secret, or None if there is none or it is unreadable."""
    field, secret = Endpoint._meta.get_field(name), getattr(snapshot, name)
    if secret is None or not isinstance(field, EncryptedTextField):
        return None
    try:
        return Signer(field.open(secret, row=str(snapshot.uuid)))
    except (UnreadableSecret, ValueError):
        logger.error("webhook secret unreadable", extra={"webhook": str(snapshot.uuid)})
        return None
