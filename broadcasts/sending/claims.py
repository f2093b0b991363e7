"""One claim: of every broadcast in turn what is due, as far as its channel and its allowance have room."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, NamedTuple

from broadcasts.models import Recipient
from broadcasts.sending import statements
from broadcasts.sending.messages import KnownBroadcasts, SendingBroadcast, message_of
from broadcasts.sending.places import FRONT, Place, Places
from broadcasts.services.counts import add_counts
from channelconnect.providers import messages as provider
from channelconnect.providers.messages.errors import INVALID
from channelconnect.sending import allowance
from channelconnect.sending.allowance import Key, person_key
from channelconnect.sending.sources import ClaimedMessage
from config.leases.arrays import integers, moments

NAME: Final = "broadcasts"
# Who is skipped or held leaves room for others; whoever is behind the place that was reached comes with the next pass.
PASSES: Final = 6
HELD_AT_ONCE: Final = 2_000
HOLDING_SECONDS: Final = 0.2
Reason = Recipient.SkipReason
# What a claimed message is called by the sender: both of a recipient's numbers in one.
BITS: Final = 63
MASK: Final = 2**BITS - 1


def number_of(broadcast: int, contact: int) -> int:
    return broadcast << BITS | contact


def key_of(number: int) -> tuple[int, int]:
    """Read what `number_of` wrote: the broadcast's and the contact's ids."""
    return number >> BITS, number & MASK


class Due(NamedTuple):
    """A recipient who is due, locked; `place` is where the row is. `reason` is why they are skipped, if they are."""

    place: str
    broadcast: int
    contact: int
    due_at: datetime
    tries: int
    claimed_at: datetime | None
    kind: str
    address: str
    values: Sequence[str] | None
    reason: str | None
    is_open: bool


class Claim:
    """Made once, inside the caller's transaction. `skipped` are those who are to be skipped, by their keys.

    `queues` are each channel's broadcasts, the one whose turn it is first; what has nothing left is taken out.
    `finished` are those of which nothing is left that is due.
    """

    def __init__(
        self, cursor: Any, *, run: int, queues: Mapping[int, list[int]], known: KnownBroadcasts, places: Places
    ) -> None:
        self.skipped: dict[tuple[int, int], str] = {}
        self.finished: set[int] = set()
        self._cursor = cursor
        self._run = run
        self._queues = queues
        self._places = places
        self._held: Counter[int] = Counter()
        ids = [broadcast for queue in queues.values() for broadcast in queue]
        self._known = known.find(cursor, ids)
        self._keys: dict[int, Key] = {}
        limited = {one.channel_id for one in self._known.values() if one.is_limited}
        if limited:
            self._keys = allowance.keys_of(cursor, limited)

    def make(self, rooms: Mapping[int, int], batch: int) -> list[ClaimedMessage]:
        """Claim so many of each channel at most, `batch` in all."""
        cursor = self._cursor
        cursor.execute(statements.SELF, {"run": self._run}, prepare=True)
        if cursor.fetchone() is None:
            return []
        left, claimed = dict(rooms), list[ClaimedMessage]()
        for _ in range(PASSES):
            asked = self._share(left, batch - len(claimed))
            if not asked:
                break
            for one in self._claim(self._pick(asked)):
                left[one.channel_id] -= 1
                claimed.append(one)
        add_counts({broadcast: {"held": number} for broadcast, number in self._held.items()}, cursor=cursor)
        return claimed

    def _share(self, rooms: Mapping[int, int], batch: int) -> dict[int, int]:
        """Say how many to take of each broadcast: a channel's room in equal parts, the odd ones in turn."""
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

    def _pick(self, asked: Mapping[int, int]) -> list[Due]:
        """Lock those who are due, and remember how far that was."""
        places = {broadcast: self._places.of(broadcast) for broadcast in asked}
        began = monotonic()
        values = {
            "ids": integers(asked),
            "rooms": integers(asked.values()),
            "since": moments(place.due_at for place in places.values()),
            "after": integers(place.contact for place in places.values()),
        }
        self._cursor.execute(statements.PICK, values, prepare=True)
        due = [Due._make(row) for row in self._cursor.fetchall()]
        seconds = monotonic() - began
        self._places.walked((one for one, place in places.items() if place == FRONT), seconds)
        found = Counter(one.broadcast for one in due)
        for one in due:
            self._places.move(one.broadcast, Place(one.due_at, one.contact))
        for broadcast, number in asked.items():
            if found[broadcast] < number:
                self._is_short(broadcast, from_front=places[broadcast] == FRONT)
        return [one for one in due if (one.broadcast, one.contact) not in self.skipped and one.broadcast in self._known]

    def _is_short(self, broadcast: int, *, from_front: bool) -> None:
        """Nothing more lies behind the place: go back to the front, or leave the broadcast for now."""
        if from_front:
            self.finished.add(broadcast)
        if from_front or not self._places.begin_anew(broadcast):
            self._leave(broadcast)

    def _leave(self, broadcast: int) -> None:
        for queue in self._queues.values():
            if broadcast in queue:
                queue.remove(broadcast)

    def _claim(self, due: Sequence[Due]) -> list[ClaimedMessage]:
        free, limited = list[Due](), list[Due]()
        for one in due:
            broadcast = self._known[one.broadcast]
            reason = one.reason or (Reason.OUTSIDE_WINDOW if broadcast.needs_window and not one.is_open else None)
            if reason:
                self.skipped[one.broadcast, one.contact] = reason
            elif broadcast.is_limited and not one.is_open and self._limit_of(broadcast) is not None:
                limited.append(one)
            else:
                free.append(one)
        counted = self._counted(limited) if limited else []
        self._write(free, is_counted=False)
        self._write(counted, is_counted=True)
        now = datetime.now(UTC)
        return [self._claimed(one, now) for one in (*free, *counted)]

    def _write(self, due: Sequence[Due], *, is_counted: bool) -> None:
        if due:
            values = {"run": self._run, "counted": is_counted, "places": rows_at(one.place for one in due)}
            self._cursor.execute(statements.CLAIM, values, prepare=True)

    def _claimed(self, due: Due, now: datetime) -> ClaimedMessage:
        broadcast = self._known[due.broadcast]
        unsendable = ""
        try:
            message = message_of(broadcast, contact=due.contact, kind=due.kind, address=due.address, values=due.values)
        except (KeyError, TypeError, ValueError, AttributeError):
            message, unsendable = provider.OutgoingMessage("", provider.Recipient(), "text"), INVALID.code
        return ClaimedMessage(
            source=NAME,
            id=number_of(due.broadcast, due.contact),
            agency_id=broadcast.agency_id,
            channel_id=broadcast.channel_id,
            contact_id=due.contact,
            tries=due.tries,
            queued_at=due.claimed_at or now,
            message=message,
            unsendable=unsendable,
        )

    # The allowance ------------------------------------------------------------------------------------

    def _limit_of(self, broadcast: SendingBroadcast) -> int | None:
        key = self._keys.get(broadcast.channel_id)
        return key.limit if key else None

    def _counted(self, due: Sequence[Due]) -> list[Due]:
        """Give those for whom there is room, one broadcast's after the other's in turn; the rest is held."""
        asked: defaultdict[Key, list[str]] = defaultdict(list)
        for one in _in_turn(due):
            asked[self._keys[self._known[one.broadcast].channel_id]].append(person_key(one.address))
        given = allowance.take(self._cursor, asked)
        counted, held = list[Due](), defaultdict[Key, list[Due]](list)
        for one in due:
            key = self._keys[self._known[one.broadcast].channel_id]
            if person_key(one.address) in given[key.name]:
                counted.append(one)
            else:
                held[key].append(one)
        for key, rest in held.items():
            self._hold(key, rest)
        return counted

    def _hold(self, key: Key, due: Sequence[Due]) -> None:
        """Have people wait for room, and with them all others of their broadcasts who need it."""
        broadcasts = list(dict.fromkeys(one.broadcast for one in due))
        self._put_aside(key, [(one.broadcast, one.place) for one in due])
        until = monotonic() + HOLDING_SECONDS
        for broadcast in broadcasts:
            values = {"id": broadcast, "key": key.name, "most": HELD_AT_ONCE}
            while monotonic() < until:
                self._cursor.execute(statements.REST, values, prepare=True)
                places = [place for (place,) in self._cursor.fetchall()]
                self._put_aside(key, [(broadcast, place) for place in places])
                if len(places) < HELD_AT_ONCE:
                    break
            self.finished.add(broadcast)

    def _put_aside(self, key: Key, rows: Sequence[tuple[int, str]]) -> None:
        if not rows:
            return
        channels = [channel for channel, found in self._keys.items() if found.name == key.name]
        self._cursor.execute(statements.HELD, {"channels": integers(channels)}, prepare=True)
        ahead = self._cursor.fetchone()[0] + self._held.total()
        now = datetime.now(UTC)
        ends = allowance.openings(self._cursor, key, ahead=ahead, number=len(rows), now=now)
        values = {"places": rows_at(place for _, place in rows), "due": moments(ends)}
        self._cursor.execute(statements.HOLD, values, prepare=True)
        self._held.update(broadcast for broadcast, _ in rows)


def rows_at(places: Iterable[str]) -> str:
    """Write the places of rows as PostgreSQL reads them."""
    written = '","'.join(places)
    return f'{{"{written}"}}' if written else "{}"


def _in_turn(due: Sequence[Due]) -> list[Due]:
    """Give the first of each broadcast, then the second of each."""
    position: Counter[int] = Counter()
    turns = []
    for one in due:
        turns.append(position[one.broadcast])
        position[one.broadcast] += 1
    return [one for _, one in sorted(zip(turns, due, strict=True), key=lambda pair: pair[0])]
