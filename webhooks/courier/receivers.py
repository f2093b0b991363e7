"""What the event loop knows of each endpoint: where it is, its secret, and whether it wants anything."""

from collections.abc import Sequence

from config.db import EncryptedTextField, UnreadableSecret
from webhooks.courier.rows import Card
from webhooks.letters import signer
from webhooks.models import Endpoint
from webhooks.transport.addresses import Network
from webhooks.transport.guard import Vetted, judge, judge_at_sight
from webhooks.transport.targets import TargetRefused, parse_target


class Receiver:
    """One endpoint as its row was read last. `refusal` is set where its URL must not be posted to."""

    __slots__ = ("_allowed", "_answer", "_card", "_vetted", "at_sight", "host", "is_open", "refusal", "signer", "url")

    def __init__(self, card: Card, allowed: Sequence[Network]) -> None:
        self._card = card
        self.url = card.url
        self.is_open = card.is_open
        secret = _unsealed(card.secret)
        self.signer = signer(secret) if secret is not None else None
        self.host = ""
        self.refusal: TargetRefused | None = None
        self.at_sight: Vetted | None = None  # where the host is an address
        self._allowed = allowed
        self._answer: tuple[str, ...] = ()
        self._vetted: Vetted | None = None
        try:
            target = parse_target(card.url)
            self.host = target.host
            self.at_sight = judge_at_sight(target, allowed=allowed)
        except TargetRefused as refusal:
            self.refusal = refusal

    def is_as(self, card: Card) -> bool:
        """Whether the card says nothing new, as that of an endpoint edited a moment ago does again and again."""
        return self._card[:4] == card[:4]  # the last outcome is none of its words

    def judge(self, answer: tuple[str, ...]) -> Vetted:
        """Judge what the name resolves to now; raises TargetRefused. The same answer is judged once."""
        if self._vetted is None or self._answer != answer:
            self._vetted = judge(parse_target(self.url), answer, allowed=self._allowed)
            self._answer = answer
        return self._vetted


def _unsealed(secret: bytes | None) -> str | None:
    """Decrypt an endpoint's secret; one that cannot be read is as good as none."""
    field = Endpoint._meta.get_field("secret")
    if secret is None or not isinstance(field, EncryptedTextField):
        return None
    try:
        return field.open(secret)
    except UnreadableSecret:
        return None
