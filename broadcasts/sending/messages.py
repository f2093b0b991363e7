"""Builds each recipient's message from the frozen message, and keeps the position in each broadcast's queue."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

from psycopg.rows import TupleRow

from agency.services.hosts import base_url_of
from broadcasts.content import FrozenMessage, JsonTemplate
from broadcasts.models import Recipient
from broadcasts.models.recipients import callback_data_of
from broadcasts.sending import statements
from broadcasts.services.tracked_links import tracked_link
from channelconnect.providers import messages as provider
from channelconnect.services.allowance_keys import DatabaseCursor
from config.postgresql.arrays import integers

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
    components: JsonTemplate | None = None  # of its template, if they differ between recipients

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

    def find(self, cursor: DatabaseCursor, ids: Collection[int]) -> dict[int, SendingBroadcast]:
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


def _read(row: TupleRow) -> SendingBroadcast:
    frozen = FrozenMessage.from_json(row[5])
    parts = frozen.template.get("components") if frozen.template else None
    is_own = bool(frozen.variables or frozen.links)
    return SendingBroadcast._make((*row[:5], frozen, JsonTemplate(parts) if parts and is_own else None))


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
        opaque=callback_data_of(broadcast.id, contact),
        to=_recipient(kind, address),
        type="text" if template is None else "template",
        text=frozen.for_recipient(values, link)[0] if template is None else "",
        template=template,
    )


def _recipient(kind: str, address: str) -> provider.Recipient:
    if kind == Kind.USER_ID:
        return provider.Recipient(user_id=address)
    return provider.Recipient(phone=address) if kind == Kind.PHONE else provider.Recipient(external_id=address)


# While any transaction holds an old snapshot, the index keeps the dead entries of recipients that were sent to. A
# claim from the front would walk over all of them each time. So a claim continues where the last claim ended. Now and
# then it starts from the front again, to find recipients that were put back before the position.

LONGEST_REST_SECONDS: Final = 60.0
FORGET_SECONDS: Final = 600.0
# Walks from the front take at most a fiftieth of the time.
REST_FOR_EACH_SECOND: Final = 50.0


class Cursor(NamedTuple):
    due_at: datetime
    contact: int


QUEUE_START: Final = Cursor(datetime(2000, 1, 1, tzinfo=UTC), 0)


class ClaimCursors:
    """The position in each broadcast's queue. Only the claimer's thread uses it."""

    def __init__(self) -> None:
        self._positions: dict[int, Cursor] = {}
        self._began_at: dict[int, float] = {}
        self._rests: dict[int, float] = {}

    def of(self, broadcast: int) -> Cursor:
        """Return where to continue; the front if a new walk from the front is due."""
        if monotonic() - self._began_at.get(broadcast, 0.0) >= LONGEST_REST_SECONDS:
            self._restart(broadcast)
        return self._positions.get(broadcast, QUEUE_START)

    def move(self, broadcast: int, cursor: Cursor) -> None:
        self._positions[broadcast] = cursor

    def record_walk_time(self, broadcasts: Iterable[int], seconds: float) -> None:
        """Remember how long a walk from the front took."""
        for broadcast in broadcasts:
            self._rests[broadcast] = min(LONGEST_REST_SECONDS, seconds * REST_FOR_EACH_SECOND)

    def restart_from_front(self, broadcast: int) -> bool:
        """Return to the front once nothing is left after the position. False if it is too early for that."""
        if monotonic() - self._began_at.get(broadcast, 0.0) < self._rests.get(broadcast, 0.0):
            return False
        self._restart(broadcast)
        return True

    def forget_idle(self) -> None:
        """Drop the positions of broadcasts that were not looked at for `FORGET_SECONDS`."""
        before = monotonic() - FORGET_SECONDS
        for broadcast in [one for one, began_at in self._began_at.items() if began_at < before]:
            self._began_at.pop(broadcast)
            self._positions.pop(broadcast, None)
            self._rests.pop(broadcast, None)

    def _restart(self, broadcast: int) -> None:
        self._positions.pop(broadcast, None)
        self._began_at[broadcast] = monotonic()
