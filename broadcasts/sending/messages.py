"""What each recipient gets, as a provider's client takes it: written from the broadcast's fixed message."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from django.conf import settings

from broadcasts.content import FrozenMessage
from broadcasts.models import Recipient
from broadcasts.models.recipients import opaque_of
from broadcasts.sending import statements
from broadcasts.services.tracking.links import tracked_link
from channelconnect.providers import messages as provider
from config.leases.arrays import integers

# Of so many broadcasts the messages are kept; they are small, and none of them changes.
MOST_KNOWN: Final = 2_000
Kind = Recipient.AddressKind


class SendingBroadcast(NamedTuple):
    """A broadcast as its recipients' messages need it."""

    id: int
    channel_id: int
    agency_id: int
    workspace_id: int
    platform: str
    frozen: FrozenMessage

    @property
    def needs_window(self) -> bool:
        """Whether it is free text, which networks take within 24 hours of a person's last message."""
        return self.frozen.template is None

    @property
    def is_limited(self) -> bool:
        """Whether its messages count against an allowance outside of a window."""
        return self.platform == "whatsapp" and self.frozen.template is not None


class KnownBroadcasts:
    """Broadcasts that are being sent, read once each."""

    def __init__(self) -> None:
        self._known: dict[int, SendingBroadcast] = {}

    def find(self, cursor: Any, ids: Collection[int]) -> dict[int, SendingBroadcast]:
        """Give these broadcasts by their ids; one that is gone, or was never begun, is not among them."""
        missing = [key for key in ids if key not in self._known]
        if missing:
            if len(self._known) + len(missing) > MOST_KNOWN:
                self._known.clear()
                missing = list(ids)
            cursor.execute(statements.BROADCASTS, {"ids": integers(missing)})
            for row in cursor.fetchall():
                known = SendingBroadcast._make((*row[:5], FrozenMessage.from_json(row[5])))
                self._known[known.id] = known
        return {key: self._known[key] for key in ids if key in self._known}


def message_of(
    broadcast: SendingBroadcast, *, contact: int, kind: str, address: str, values: Sequence[str] | None
) -> provider.OutgoingMessage:
    """Write what a contact gets, under the id that comes back in each status."""
    frozen = broadcast.frozen
    if frozen.links:
        link = partial(tracked_link, settings.PUBLIC_URL, broadcast.id, contact)
        text, template = frozen.for_recipient(values, link)
    else:
        text, template = frozen.for_recipient(values)
    return provider.OutgoingMessage(
        opaque=opaque_of(broadcast.id, contact),
        to=_recipient(kind, address),
        type="text" if template is None else "template",
        text=text if template is None else "",
        template=template,
    )


def _recipient(kind: str, address: str) -> provider.Recipient:
    if kind == Kind.USER_ID:
        return provider.Recipient(user_id=address)
    return provider.Recipient(phone=address) if kind == Kind.PHONE else provider.Recipient(external_id=address)
