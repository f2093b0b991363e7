"""What the event loop knows of each endpoint: where it is, its secret, and whether it wants anything."""

import logging
from collections.abc import Sequence

from config.encryption import EncryptedTextField, UnreadableSecret
from config.http.addresses import Network
from config.http.guard import VettedTarget, check_addresses, check_without_lookup
from config.http.targets import TargetRefused, parse_target
from webhooks.dispatcher.queries import EndpointSnapshot
from webhooks.models import Endpoint
from webhooks.signing import Signer

logger = logging.getLogger(__name__)


class Destination:
    """One endpoint as its row was read last. `refusal` is set where its URL must not be posted to."""

    __slots__ = (
        "_allowed",
        "_answer",
        "_snapshot",
        "_vetted",
        "host",
        "is_open",
        "is_removed",
        "refusal",
        "signer",
        "url",
        "vetted_address",
    )

    def __init__(self, snapshot: EndpointSnapshot, allowed: Sequence[Network]) -> None:
        self._snapshot = snapshot
        self.url = snapshot.url
        self.is_open = snapshot.is_open
        self.is_removed = snapshot.is_removed
        self.signer = _signer(snapshot)
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
        return self._snapshot[:6] == snapshot[:6]  # the last outcome changes nothing here

    def check(self, answer: tuple[str, ...]) -> VettedTarget:
        """Check what the name resolves to now; raises TargetRefused. The same answer is checked once."""
        if self._vetted is None or self._answer != answer:
            self._vetted = check_addresses(parse_target(self.url), answer, allowed=self._allowed)
            self._answer = answer
        return self._vetted


def _signer(snapshot: EndpointSnapshot) -> Signer | None:
    """Decrypt an endpoint's secret, to sign with; one that cannot be read is as good as none."""
    field = Endpoint._meta.get_field("secret")
    if snapshot.secret is None or not isinstance(field, EncryptedTextField):
        return None
    try:
        return Signer(field.open(snapshot.secret, row=str(snapshot.uuid)))
    except (UnreadableSecret, ValueError):
        logger.error("webhook secret unreadable", extra={"webhook": str(snapshot.uuid)})
        return None
