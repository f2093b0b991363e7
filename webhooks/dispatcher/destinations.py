"""What the event loop knows of each endpoint: where it is, its secret, and whether it wants anything."""

import logging
import time
from collections.abc import Sequence
from typing import Literal

from config.encryption import EncryptedTextField, UnreadableSecret
from config.http.addresses import Network
from config.http.guard import VettedTarget, check_addresses, check_without_lookup
from config.http.targets import TargetRefused, parse_target
from webhooks.dispatcher.queries import EndpointSnapshot
from webhooks.models import Endpoint
from webhooks.signing import Signature, Signer

logger = logging.getLogger(__name__)
# What makes another destination of an endpoint: the fields of its snapshot that come first.
COMPARED = EndpointSnapshot._fields.index("previous_secret_seconds")


class Destination:
    """One endpoint as its row was read last. `refusal` is set where its URL must not be posted to."""

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
        self.refusal: TargetRefused | None = None
        self.vetted_address: VettedTarget | None = None  # where the host is an address and no name
        self._allowed = allowed
        self._answer: tuple[str, ...] = ()
        self._vetted: VettedTarget | None = None
        try:
            target = parse_target(snapshot.url)
            self.host = target.host
            self.vetted_address = check_without_lookup(target, allowed=allowed)
        except TargetRefused as refusal:
            self.refusal = refusal

    def is_as(self, snapshot: EndpointSnapshot) -> bool:
        """Whether the snapshot says nothing new, as that of an endpoint edited a moment ago does again and again."""
        return self._snapshot[:COMPARED] == snapshot[:COMPARED]  # what else there is changes nothing here

    def sign(self, *, envelope_id: str, body: bytes) -> Signature | None:
        """Sign a body now, with the previous secret too while it counts; None where no secret can be read."""
        if self._signer is None:
            return None
        now = int(time.time())
        signature = self._signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        if self._previous_signer is None or time.monotonic() >= self._previous_ends_at:
            return signature
        previous = self._previous_signer.sign(envelope_id=envelope_id, timestamp=now, body=body)
        return signature._replace(previous_message=previous.message)

    def check(self, answer: tuple[str, ...]) -> VettedTarget:
        """Check what the name resolves to now; raises TargetRefused. The same answer is checked once."""
        if self._vetted is None or self._answer != answer:
            self._vetted = check_addresses(parse_target(self.url), answer, allowed=self._allowed)
            self._answer = answer
        return self._vetted


def _signer(snapshot: EndpointSnapshot, name: Literal["secret", "previous_secret"]) -> Signer | None:
    """Decrypt an endpoint's secret, to sign with; one that cannot be read is as good as none."""
    field, secret = Endpoint._meta.get_field(name), getattr(snapshot, name)
    if secret is None or not isinstance(field, EncryptedTextField):
        return None
    try:
        return Signer(field.open(secret, row=str(snapshot.uuid)))
    except (UnreadableSecret, ValueError):
        logger.error("webhook secret unreadable", extra={"webhook": str(snapshot.uuid)})
        return None
