"""Builds each recipient's message for the provider's client, from the broadcast's frozen message."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from agency.services.domains.hosts import base_url_of
from broadcasts.content import FrozenMessage, WrittenJson
from broadcasts.models import Recipient
from broadcasts.models.recipients import opaque_of
from broadcasts.sending import statements
from broadcasts.services.tracking.links import tracked_link
from channelconnect.providers import messages as provider
from config.leases.arrays import integers

# At most this many broadcasts' messages are kept in memory. They are small and never change.
MOST_KNOWN: Final = 10_000
Kind = Recipient.AddressKind


class SendingBroadcast(NamedTuple):
    """The columns of a broadcast that its recipients' messages need."""

    id: int
    channel_id: int
    agency_id: int
    workspace_id: int
    platform: str
    frozen: FrozenMessage
    components: WrittenJson | None = None  # of its template, if they differ between recipients

    @property
    def needs_window(self) -> bool:
        """Whether it is free text. Networks accept free text only within 24 hours of a person's last message."""
        return self.frozen.template is None

    @property
    def is_limited(self) -> bool:
        """Whether its messages outside a window use up an allowance."""
        return self.platform == "whatsapp" and self.frozen.template is not None


class KnownBroadcasts:
    """Broadcasts that are being sent; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int, SendingBroadcast] = {}

    def find(self, cursor: Any, ids: Collection[int]) -> dict[int, SendingBroadcast]:
        """Return these broadcasts by their ids. Deleted broadcasts, and those that were never begun, are missing."""
        missing = [key for key in ids if key not in self._known]
        if missing:
            if len(self._known) + len(missing) > MOST_KNOWN:
                self._known.clear()
                missing = list(ids)
            cursor.execute(statements.BROADCASTS, {"ids": integers(missing)})
            for row in cursor.fetchall():
                known = _read(row)
                self._known[known.id] = known
        return {key: self._known[key] for key in ids if key in self._known}


def _read(row: Sequence[Any]) -> SendingBroadcast:
    frozen = FrozenMessage.from_json(row[5])
    parts = frozen.template.get("components") if frozen.template else None
    is_own = bool(frozen.variables or frozen.links)
    return SendingBroadcast._make((*row[:5], frozen, WrittenJson(parts) if parts and is_own else None))


def message_of(
    broadcast: SendingBroadcast, *, contact: int, kind: str, address: str, values: Sequence[str] | None
) -> provider.OutgoingMessage:
    """Build a contact's message. It carries the id that the provider repeats in each status."""
    frozen, link = broadcast.frozen, None
    if frozen.links:
        link = partial(tracked_link, base_url_of(broadcast.agency_id), broadcast.id, contact)
    template = frozen.template
    if template is not None and broadcast.components is not None:
        template = {**template, "components": broadcast.components.with_names(frozen.names_of(values, link))}
    return provider.OutgoingMessage(
        opaque=opaque_of(broadcast.id, contact),
        to=_recipient(kind, address),
        type="text" if template is None else "template",
        text=frozen.for_recipient(values, link)[0] if template is None else "",
        template=template,
    )


def _recipient(kind: str, address: str) -> provider.Recipient:
    if kind == Kind.USER_ID:
        return provider.Recipient(user_id=address)
    return provider.Recipient(phone=address) if kind == Kind.PHONE else provider.Recipient(external_id=address)
