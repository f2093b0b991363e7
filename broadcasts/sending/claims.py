"""A claim of due recipients: broadcasts take turns, within the room of their channel and its allowance."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, NamedTuple

import orjson

from broadcasts.models import Recipient
from broadcasts.sending import statements
from broadcasts.sending.messages import QUEUE_START, ClaimCursors, Cursor, KnownBroadcasts, message_of
from broadcasts.services.counts import add_counts
from channelconnect.providers import messages as provider
from channelconnect.providers.message_results import INVALID
from channelconnect.sending import allowance
from channelconnect.sending.allowance import person_key
from channelconnect.sending.sources import ClaimedMessage
from channelconnect.services.allowance_keys import OPEN_SECONDS, Key, keys_of, locked_keys_of
from config.postgresql.arrays import integers, timestamps

NAME: Final = "broadcasts"
# Skipped and held recipients leave their room to others, which the next pass finds after the position reached.
PASSES: Final = 6
# A claim skips at most this many. If most recipients are skipped, it looks at up to this many more than have room.
SKIPPED_AT_ONCE: Final = 500
HELD_AT_ONCE: Final = 2_000
HOLDING_SECONDS: Final = 0.2
Reason = Recipient.SkipReason
# The sender knows a claimed message by one number, which holds the recipient's broadcast id and contact id.
CONTACT_BITS: Final = 63
MASK: Final = 2**CONTACT_BITS - 1


def pack_key(broadcast: int, contact: int) -> int:
    return broadcast << CONTACT_BITS | contact


def unpack_key(number: int) -> tuple[int, int]:
    """Return the ids of broadcast and contact in a number made by `pack_key`."""
    return number >> CONTACT_BITS, number & MASK


class DueRecipient(NamedTuple):
    """A due recipient whose row is locked. `place` is the row's ctid; `reason` is set if the recipient must be skipped.

    `stays_open` says that the window stays open for as long as a message that is claimed now may take to be sent.
    """

    place: str
    broadcast: int
    contact: int
    due_at: datetime
    tries: int
    claimed_at: datetime | None
    kind: str
    address: str
    values: str | None  # JSON
    reason: str | None
    is_open: bool
    stays_open: bool


class Claim:
    """A claim inside the caller's transaction; `make` may be called once.

    `queues` has each channel's broadcasts, the next turn first. The claim removes a broadcast that has nothing left.
    `skipped` has the recipients to skip and their reasons, by key. `finished` has the broadcasts with nothing due left.
    `unfinished` has the channels with room and more recipients to look at, because recipients to skip came first.
    """

    def __init__(
        self, cursor: Any, *, run: int, queues: Mapping[int, list[int]], known: KnownBroadcasts, cursors: ClaimCursors
    ) -> None:
        self.skipped: dict[tuple[int, int], str] = {}
        self.finished: set[int] = set()
        self.unfinished: set[int] = set()
        self._mostly_skipped: set[int] = set()
        self._cursor = cursor
        self._run = run
        self._queues = queues
        self._cursors = cursors
        self._held: Counter[int] = Counter()
        ids = [broadcast for queue in queues.values() for broadcast in queue]
        self._known = known.find(cursor, ids)
        self._keys: dict[int, Key] = {}
        self._has_locked = False
        limited = {one.channel_id for one in self._known.values() if one.is_limited}
        if limited:
            self._keys = keys_of(cursor, limited)

    def make(self, rooms: Mapping[int, int], batch: int) -> list[ClaimedMessage]:
        """Claim up to `rooms` of each channel, and up to `batch` in all."""
        cursor = self._cursor
        cursor.execute(statements.LOCK_OWN_RUN, {"run": self._run}, prepare=True)
        if cursor.fetchone() is None:
            return []
        left, claimed = dict(rooms), list[ClaimedMessage]()
        for _ in range(PASSES):
            asked = self._share(left, batch - len(claimed))
            if not asked or len(self.skipped) >= SKIPPED_AT_ONCE:
                break
            for one in self._claim(self._pick(asked)):
                left[one.channel_id] -= 1
                claimed.append(one)
        self.unfinished = {channel for channel, room in left.items() if room > 0 and self._is_skipping(channel)}
        add_counts({broadcast: {"held": number} for broadcast, number in self._held.items()}, cursor=cursor)
        return claimed

    def _is_skipping(self, channel: int) -> bool:
        """Whether the channel has a broadcast with more due recipients, most of which are skipped."""
        return not self._mostly_skipped.isdisjoint(self._queues.get(channel, ()))

    def _share(self, rooms: Mapping[int, int], batch: int) -> dict[int, int]:
        """Return how many to claim of each broadcast: equal parts of its channel's room, the remainder in turn."""
        asked: dict[int, int] = {}
        for channel, room in rooms.items():
            queue, most = self._queues.get(channel, []), min(room, batch)
            if not queue or most <= 0:
                continue
            part, odd = divmod(most, len(queue))
            for position, broadcast in enumerate(queue):
                if number := part + (position < odd):
                    asked[broadcast] = number
            queue[:] = queue[odd:] + queue[:odd]
            batch -= most
        return asked

    def _pick(self, asked: Mapping[int, int]) -> list[DueRecipient]:
        """Lock due recipients, and move each broadcast's position forward as far as there was room."""
        cursors = {broadcast: self._cursors.of(broadcast) for broadcast in asked}
        looked_for = self._widen_batch(asked)
        began = monotonic()
        values = {
            "ids": integers(looked_for),
            "rooms": integers(looked_for.values()),
            "since": timestamps(one.due_at for one in cursors.values()),
            "after": integers(one.contact for one in cursors.values()),
            "open": OPEN_SECONDS,
        }
        self._cursor.execute(statements.PICK, values, prepare=True)
        due = [DueRecipient._make(row) for row in self._cursor.fetchall()]
        seconds = monotonic() - began
        self._cursors.record_walk_time((one for one, at in cursors.items() if at == QUEUE_START), seconds)
        within = self._with_room(due, asked)
        found, used = Counter(one.broadcast for one in due), Counter(one.broadcast for one in within)
        for one in within:
            self._cursors.move(one.broadcast, Cursor(one.due_at, one.contact))
        for broadcast, number in looked_for.items():
            if used[broadcast] == found[broadcast] < number:
                self._on_exhausted(broadcast, from_front=cursors[broadcast] == QUEUE_START)
        known = (one for one in within if one.broadcast in self._known)
        return [one for one in known if (one.broadcast, one.contact) not in self.skipped]

    def _widen_batch(self, asked: Mapping[int, int]) -> dict[int, int]:
        """Widen the batch of broadcasts whose recipients were mostly skipped before."""
        skipping = self._mostly_skipped.intersection(asked)
        more = (SKIPPED_AT_ONCE - len(self.skipped)) // max(1, len(skipping))
        return {broadcast: number + (more if broadcast in skipping else 0) for broadcast, number in asked.items()}

    def _with_room(self, due: Sequence[DueRecipient], asked: Mapping[int, int]) -> list[DueRecipient]:
        """Return each broadcast's recipients up to the first without room. Skipped recipients need no room."""
        left, full, skipped, within = dict(asked), set[int](), Counter[int](), list[DueRecipient]()
        for one in due:
            if one.broadcast in full:
                continue
            if self._reason(one):
                skipped[one.broadcast] += 1
            elif left[one.broadcast]:
                left[one.broadcast] -= 1
            else:
                full.add(one.broadcast)
                continue
            within.append(one)
        for broadcast, number in Counter(one.broadcast for one in within).items():
            if skipped[broadcast] * 2 >= number:
                self._mostly_skipped.add(broadcast)
            else:
                self._mostly_skipped.discard(broadcast)
        return within

    def _reason(self, due: DueRecipient) -> str | None:
        """Return why a recipient is skipped, or None."""
        broadcast = self._known.get(due.broadcast)
        needs_window = broadcast is not None and broadcast.needs_window
        return due.reason or (Reason.OUTSIDE_WINDOW if needs_window and not due.is_open else None)

    def _on_exhausted(self, broadcast: int, *, from_front: bool) -> None:
        """Handle a broadcast with nothing left after its position: return to the front, or leave it for now."""
        if from_front:
            self.finished.add(broadcast)
        if from_front or not self._cursors.restart_from_front(broadcast):
            self._drop_from_queues(broadcast)

    def _drop_from_queues(self, broadcast: int) -> None:
        for queue in self._queues.values():
            if broadcast in queue:
                queue.remove(broadcast)

    def _claim(self, due: Sequence[DueRecipient]) -> list[ClaimedMessage]:
        free, limited = list[DueRecipient](), list[DueRecipient]()
        for one in due:
            broadcast = self._known[one.broadcast]
            if reason := self._reason(one):
                self.skipped[one.broadcast, one.contact] = reason
            elif broadcast.is_limited and not one.stays_open and broadcast.channel_id in self._keys:
                limited.append(one)
            else:
                free.append(one)
        counted = self._counted(limited) if limited else []
        self._write(free, is_counted=False)
        self._write(counted, is_counted=True)
        now = datetime.now(UTC)
        return [self._claimed(one, now) for one in (*free, *counted)]

    def _write(self, due: Sequence[DueRecipient], *, is_counted: bool) -> None:
        if due:
            values = {"run": self._run, "counted": is_counted, "places": ctid_array(one.place for one in due)}
            self._cursor.execute(statements.CLAIM, values, prepare=True)

    def _claimed(self, due: DueRecipient, now: datetime) -> ClaimedMessage:
        broadcast = self._known[due.broadcast]
        unsendable = ""
        try:
            values = orjson.loads(due.values) if due.values else None
            message = message_of(broadcast, contact=due.contact, kind=due.kind, address=due.address, values=values)
        except (KeyError, TypeError, ValueError, AttributeError):
            message, unsendable = provider.OutgoingMessage("", provider.Recipient(), "text"), INVALID.code
        return ClaimedMessage(
            source=NAME,
            id=pack_key(due.broadcast, due.contact),
            agency_id=broadcast.agency_id,
            channel_id=broadcast.channel_id,
            contact_id=due.contact,
            tries=due.tries,
            queued_at=due.claimed_at or now,
            message=message,
            unsendable=unsendable,
        )

    # The allowance ------------------------------------------------------------------------------------

    def _counted(self, due: Sequence[DueRecipient]) -> list[DueRecipient]:
        """Return the recipients with room in the allowance, broadcasts in turn; hold the others."""
        if not self._has_locked:
            # Lock every allowance that any pass may need at once. Pass by pass, two claims could lock them in opposite
            # orders.
            self._keys, self._has_locked = locked_keys_of(self._cursor, self._keys), True
        asked: defaultdict[Key, list[str]] = defaultdict(list)
        for one in _in_turn(due):
            asked[self._keys[self._known[one.broadcast].channel_id]].append(person_key(one.address))
        given = allowance.take(self._cursor, asked)
        counted, held = list[DueRecipient](), defaultdict[Key, list[DueRecipient]](list)
        for one in due:
            key = self._keys[self._known[one.broadcast].channel_id]
            if person_key(one.address) in given[key.name]:
                counted.append(one)
            else:
                held[key].append(one)
        for key, rest in held.items():
            self._hold(key, rest)
        return counted

    def _hold(self, key: Key, due: Sequence[DueRecipient]) -> None:
        """Make these recipients wait for room, and all others of their broadcasts that need room."""
        broadcasts = list(dict.fromkeys(one.broadcast for one in due))
        self._write_held(key, [(one.broadcast, one.place) for one in due])
        until = monotonic() + HOLDING_SECONDS
        for broadcast in broadcasts:
            values = {"id": broadcast, "key": key.name, "most": HELD_AT_ONCE, "open": OPEN_SECONDS}
            while monotonic() < until:
                self._cursor.execute(statements.DUE_WITHOUT_ROOM, values, prepare=True)
                places = [place for (place,) in self._cursor.fetchall()]
                self._write_held(key, [(broadcast, place) for place in places])
                if len(places) < HELD_AT_ONCE:
                    break
            self.finished.add(broadcast)

    def _write_held(self, key: Key, rows: Sequence[tuple[int, str]]) -> None:
        if not rows:
            return
        channels = [channel for channel, found in self._keys.items() if found.name == key.name]
        self._cursor.execute(statements.HELD, {"channels": integers(channels)}, prepare=True)
        ahead = self._cursor.fetchone()[0] + self._held.total()
        now = datetime.now(UTC)
        ends = allowance.predict_openings(self._cursor, key, ahead=ahead, number=len(rows), now=now)
        values = {"places": ctid_array(place for _, place in rows), "due": timestamps(ends)}
        self._cursor.execute(statements.HOLD, values, prepare=True)
        self._held.update(broadcast for broadcast, _ in rows)


def ctid_array(places: Iterable[str]) -> str:
    """Format rows' ctids as a PostgreSQL array."""
    written = '","'.join(places)
    return f'{{"{written}"}}' if written else "{}"


def _in_turn(due: Sequence[DueRecipient]) -> list[DueRecipient]:
    """Return the first recipient of each broadcast, then the second of each, and so on."""
    position: Counter[int] = Counter()
    turns = []
    for one in due:
        turns.append(position[one.broadcast])
        position[one.broadcast] += 1
    return [one for _, one in sorted(zip(turns, due, strict=True), key=lambda pair: pair[0])]
