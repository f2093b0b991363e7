"""Broadcasts' recipients as a source of the sender. Conversations' messages go first, because people wait for them."""

from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final

from psycopg import Error

from broadcasts.models import Broadcast
from broadcasts.sending import statements
from broadcasts.sending.claims import NAME, Claim, key_of
from broadcasts.sending.messages import KnownBroadcasts
from broadcasts.sending.places import Places
from broadcasts.sending.results import expect, lock_broadcasts, record_results
from broadcasts.sending.waiting import end_overdue, look, pause_broken, release_held, skip_recipients
from broadcasts.services.refunds import return_allowance
from channelconnect.sending.sources import UNKNOWN_SECONDS, ClaimedMessage, Coming, ReadyChannel, Sent
from channelconnect.sending.transactions import project_transaction
from config.leases.arrays import integers
from config.leases.connection import Connection
from config.leases.shards import SHARDS

MOST_BROADCASTS: Final = 10_000
FREED_AT_ONCE: Final = 2_000


class BroadcastRecipients:
    """A `MessageSource` of `Recipient` rows. The claimer's thread calls every method but `record` and `give_back`."""

    name = NAME
    priority = 10

    def __init__(self) -> None:
        self._known = KnownBroadcasts()
        self._places = Places()
        self._queues: dict[int, list[int]] = {}
        self._skipped: dict[tuple[int, int], str] = {}
        self._finished: set[int] = set()
        self._unfinished: set[int] = set()
        self._looked_at = 0

    def advance(self, connection: Connection) -> Coming:
        self._catch_up(connection)
        self._places.forget_old()
        coming = look(connection)
        self._looked_at = release_held(connection, after=self._looked_at) if coming.is_held else 0
        if coming.is_due:
            pause_broken(connection)
        if coming.is_overdue:
            end_overdue()
        # Room for held recipients may open at any time.
        return Coming(coming.is_due or coming.is_held, coming.is_soon or coming.is_held or coming.is_overdue)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS, "limit": MOST_BROADCASTS}
        rows = connection.execute(statements.READY, values, prepare=True).fetchall()
        ready: dict[int, list[int]] = {}
        for _, channel, broadcast in rows:
            ready.setdefault(channel, []).append(broadcast)
        for channel, broadcasts in ready.items():
            # Broadcasts that had the last turn stay after the others.
            known = dict.fromkeys(self._queues.get(channel, ()))
            still = set(broadcasts)
            ready[channel] = [one for one in broadcasts if one not in known] + [one for one in known if one in still]
        self._queues = ready
        return [ReadyChannel(agency, channel) for agency, channel in {row[:2]: None for row in rows}]

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        self._catch_up(connection)
        queues = {channel: list(self._queues[channel]) for channel in rooms if self._queues.get(channel)}
        self._unfinished = set()
        if not queues:
            return ()
        try:
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                claim = Claim(cursor, run=run, queues=queues, known=self._known, places=self._places)
                claimed = claim.make(rooms, batch)
        except Error:
            self._places = Places()  # the positions have passed recipients that were not claimed
            raise
        # The claims are committed and belong to the sender. Nothing may fail before it has them.
        self._queues.update(queues)
        self._skipped.update(claim.skipped)
        self._finished |= claim.finished
        self._unfinished = claim.unfinished
        return claimed

    def has_more(self, channel: int) -> bool:
        return channel in self._unfinished

    def record(self, connection: Connection, *, run: int, results: Sequence[Sent]) -> int:
        return record_results(connection, run=run, results=results)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        keys = sorted(key_of(number) for number in ids)
        values = {
            "run": run,
            "broadcasts": integers(key[0] for key in keys),
            "contacts": integers(key[1] for key in keys),
        }
        with project_transaction() as cursor:
            cursor.execute(statements.BY_KEYS)
            lock_broadcasts(cursor, {key[0] for key in keys})
            cursor.execute(statements.LOCK, values)
            taken = [(row[0], row[2]) for row in cursor.fetchall() if row[3] and row[4]]
            cursor.execute(statements.GIVE_BACK, values)
            expect(cursor, cursor.fetchall())
            broadcasts = Broadcast.objects.filter(pk__in={broadcast for broadcast, _ in taken})
            channels = dict(broadcasts.values_list("pk", "channel_id"))
            return_allowance(cursor, [(channels[broadcast], address) for broadcast, address in taken])

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        values = {"runs": integers(runs), "seconds": UNKNOWN_SECONDS, "batch": FREED_AT_ONCE}
        connection.execute(statements.FREE, values, prepare=True)
        row = connection.execute(statements.HELD_BY_RUNS, {"runs": integers(runs)}, prepare=True).fetchone()
        return bool(row and row[0])

    def _catch_up(self, connection: Connection) -> None:
        """Finish what claims left: skip recipients, and write when each broadcast's next recipients are due."""
        if self._skipped:
            skip_recipients(self._skipped)
            self._skipped = {}
        if not self._finished:
            return
        with connection.transaction(), connection.cursor() as cursor:
            values = {"ids": integers(self._finished)}
            cursor.execute(statements.LOCK_FREE_BROADCASTS, values, prepare=True)
            free = [broadcast for (broadcast,) in cursor.fetchall()]
            began = monotonic()
            cursor.execute(statements.SETTLE, {"ids": integers(free)}, prepare=True)
            self._places.walked(free, monotonic() - began)
        self._finished = set()
