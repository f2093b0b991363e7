"""Broadcasts' recipients as a source of the sender, and recipients that wait for room, a status or a channel.

Conversations' messages go first, because people wait for them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final, NamedTuple

from django.db.backends.utils import CursorWrapper
from psycopg import Error

from broadcasts import events
from broadcasts.models import Broadcast
from broadcasts.sending import statements
from broadcasts.sending.claims import NAME, Claim, unpack_key
from broadcasts.sending.messages import ClaimCursors, KnownBroadcasts
from broadcasts.sending.results import count_failed_and_notify, lock_broadcasts, lower_next_due_at, record_results
from broadcasts.services.counts import add_counts, release_allowance
from broadcasts.services.moving import pause_for_fault
from broadcasts.services.recipient_events import record_recipient_events
from channelconnect.providers.message_results import NOT_CONNECTED, OUTCOME_UNKNOWN
from channelconnect.sending import allowance
from channelconnect.sending.sources import (
    UNKNOWN_SECONDS,
    ClaimedMessage,
    MessageResult,
    ReadyChannel,
    SourceState,
    project_transaction,
)
from channelconnect.services.allowance_keys import Key, keys_of
from config.db import database_now
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection
from config.leases.runs import SHARDS
from config.postgresql.arrays import integers, texts
from config.postgresql.concurrency import AdvisoryLock

OVERDUE_BATCH: Final = 500
LONGEST_UNKNOWN_SECONDS: Final = UNKNOWN_SECONDS * 2
# The time for this in each half second.
ENDING_SECONDS: Final = 0.1
MOST_BROADCASTS_AT_ONCE: Final = 1_000
# At most this many recipients of an allowance are released and unsent at the same time.
RELEASED_AT_ONCE: Final = 2_000
# Only one sender at a time releases held recipients.
ONE_AT_A_TIME: Final = f"SELECT pg_try_advisory_xact_lock({AdvisoryLock.ALLOWANCE_RELEASE.value})"


class PendingWork(NamedTuple):
    """Whether recipients are due, are due within `SOON_SECONDS`, wait for room, or lack a status for too long."""

    is_due: bool
    is_soon: bool
    is_held: bool
    is_overdue: bool


def pending_work(connection: Connection) -> PendingWork:
    """Find what to do about waiting recipients. It is usually nothing, and one statement says so."""
    values = {"soon": SOON_SECONDS, "longest": LONGEST_UNKNOWN_SECONDS}
    row = connection.execute(statements.HAS_WORK, values, prepare=True).fetchone()
    return PendingWork._make(row) if row else PendingWork(True, True, True, True)


def skip_recipients(reasons: Mapping[tuple[int, int], str]) -> None:
    """Skip recipients that still wait, each with its reason."""
    if not reasons:
        return
    keys = sorted(reasons)
    with project_transaction() as cursor:
        values = {
            "broadcasts": integers(key[0] for key in keys),
            "contacts": integers(key[1] for key in keys),
            "reasons": texts(reasons[key] for key in keys),
        }
        cursor.execute(statements.SKIP, values)
        skipped = cursor.fetchall()
        record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=database_now())
        numbers = Counter(broadcast for broadcast, _ in skipped)
        add_counts({one: {"pending": -number, "skipped": number} for one, number in numbers.items()})


def fail_overdue(*, seconds: float = ENDING_SECONDS) -> None:
    """Fail recipients that got no status for fifteen minutes. No batch starts after `seconds`.

    After a restore there may be a million of them, and recipients that are ready must not wait for that.
    """
    values: dict[str, int | str] = {
        "batch": OVERDUE_BATCH,
        "longest": LONGEST_UNKNOWN_SECONDS,
        "code": OUTCOME_UNKNOWN.code,
        "message": OUTCOME_UNKNOWN.sentence,
    }
    until, has_more = monotonic() + seconds, True
    while has_more:
        with project_transaction() as cursor:
            cursor.execute(statements.BY_KEYS)
            cursor.execute(statements.OVERDUE, values)
            keys = cursor.fetchall()
            has_more = len(keys) == OVERDUE_BATCH and monotonic() < until
            changes: defaultdict[int, Counter[str]] = defaultdict(Counter)
            count_failed_and_notify(keys, changes, now=database_now())
            add_counts(changes)


def pause_disconnected(connection: Connection) -> None:
    """Pause broadcasts that are due on a channel that is not connected."""
    with connection.cursor() as cursor:
        cursor.execute(statements.DISCONNECTED, {"limit": MOST_BROADCASTS_AT_ONCE}, prepare=True)
        broken = [broadcast for broadcast, _ in cursor.fetchall()]
    if broken:
        with project_transaction():
            pause_for_fault(broken, NOT_CONNECTED.sentence, database_now())


def release_held(connection: Connection, *, after: int, limit: int = MOST_BROADCASTS_AT_ONCE) -> int:
    """Release held recipients of the next broadcasts after `after`. Returns the last of these; 0 at the end."""
    with connection.cursor() as cursor:
        cursor.execute(statements.BROADCASTS_WITH_HELD, {"after": after, "limit": limit}, prepare=True)
        channels: dict[int, int] = dict(cursor.fetchall())
    if channels and not _release_of(channels):
        return after
    return max(channels) if len(channels) == limit else 0


def _release_of(channels: Mapping[int, int]) -> bool:
    """Release as many as there is room for, in equal parts by broadcast. False while another sender does this."""
    with project_transaction() as cursor:
        cursor.execute(ONE_AT_A_TIME)
        if not cursor.fetchone()[0]:
            return False
        cursor.execute(statements.BY_KEYS)
        keys = keys_of(cursor, set(channels.values()))
        waiting: defaultdict[Key, list[int]] = defaultdict(list)
        for broadcast, channel in channels.items():
            if channel in keys:
                waiting[keys[channel]].append(broadcast)
        rooms = allowance.allowance_capacities(cursor, waiting)
        open_keys = [key for key in waiting if rooms[key].is_open]
        lock_broadcasts(cursor, [broadcast for key in open_keys for broadcast in waiting[key]])
        released: Counter[int] = Counter()
        for key in open_keys:
            room = min(RELEASED_AT_ONCE, rooms[key].for_broadcasts)
            _release(cursor, waiting[key], room, released)
        now = database_now()
        lower_next_due_at(cursor, [(broadcast, now) for broadcast in released])
        add_counts({broadcast: {"held": -number} for broadcast, number in released.items()})
    return True


def _release(cursor: CursorWrapper, broadcasts: list[int], room: int, released: Counter[int]) -> None:
    """Release recipients of these broadcasts. Recipients that are ready but not claimed yet take up room too."""
    for broadcast in broadcasts:
        cursor.execute(statements.STILL_READY, {"id": broadcast, "most": room})
        room -= cursor.fetchone()[0]
        if room <= 0:
            return
    # The remainder goes to a different broadcast each time.
    first = int(monotonic()) % len(broadcasts)
    part, odd = divmod(room, len(broadcasts))
    for position, broadcast in enumerate(broadcasts[first:] + broadcasts[:first]):
        if number := part + (position < odd):
            cursor.execute(statements.RELEASE, {"id": broadcast, "room": number})
            released[broadcast] += cursor.rowcount


MOST_BROADCASTS: Final = 10_000
FREED_AT_ONCE: Final = 2_000


class BroadcastRecipients:
    """A `MessageSource` of `Recipient` rows. The claimer's thread calls every method but `record` and `give_back`."""

    name = NAME
    priority = 10
    keeps_order = False

    def __init__(self) -> None:
        self._known = KnownBroadcasts()
        self._cursors = ClaimCursors()
        self._queues: dict[int, list[int]] = {}
        self._skipped: dict[tuple[int, int], str] = {}
        self._finished: set[int] = set()
        self._unfinished: set[int] = set()
        self._looked_at = 0

    def advance(self, connection: Connection) -> SourceState:
        self._catch_up(connection)
        self._cursors.forget_idle()
        coming = pending_work(connection)
        self._looked_at = release_held(connection, after=self._looked_at) if coming.is_held else 0
        if coming.is_due:
            pause_disconnected(connection)
        if coming.is_overdue:
            fail_overdue()
        # Room for held recipients may open at any time.
        return SourceState(coming.is_due or coming.is_held, coming.is_soon or coming.is_held or coming.is_overdue)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS, "limit": MOST_BROADCASTS}
        rows = connection.execute(statements.READY, values, prepare=True).fetchall()
        ready: dict[int, list[int]] = {}
        for _, _, channel, broadcast in rows:
            ready.setdefault(channel, []).append(broadcast)
        for channel, broadcasts in ready.items():
            # Broadcasts that had the last turn stay after the others.
            known = dict.fromkeys(self._queues.get(channel, ()))
            still = set(broadcasts)
            ready[channel] = [one for one in broadcasts if one not in known] + [one for one in known if one in still]
        self._queues = ready
        return [ReadyChannel._make(path) for path in {row[:3]: None for row in rows}]

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
                claim = Claim(cursor, run=run, queues=queues, known=self._known, cursors=self._cursors)
                claimed = claim.make(rooms, batch)
        except Error:
            self._cursors = ClaimCursors()  # the positions have passed recipients that were not claimed
            raise
        # The claims are committed and belong to the sender. Nothing may fail before it has them.
        self._queues.update(queues)
        self._skipped.update(claim.skipped)
        self._finished |= claim.finished
        self._unfinished = claim.unfinished
        return claimed

    def has_more(self, channel: int) -> bool:
        return channel in self._unfinished

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        return record_results(connection, run=run, results=results)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        keys = sorted(unpack_key(number) for number in ids)
        values: dict[str, int | str] = {
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
            lower_next_due_at(cursor, cursor.fetchall())
            broadcasts = Broadcast.objects.filter(pk__in={broadcast for broadcast, _ in taken})
            channels = dict(broadcasts.values_list("pk", "channel_id"))
            release_allowance(cursor, [(channels[broadcast], address) for broadcast, address in taken])

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        values = {"runs": integers(runs), "seconds": UNKNOWN_SECONDS, "batch": FREED_AT_ONCE}
        connection.execute(statements.RELEASE_DEAD_CLAIMS, values, prepare=True)
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
            cursor.execute(statements.REFRESH_NEXT_DUE_AT, {"ids": integers(free)}, prepare=True)
            self._cursors.record_walk_time(free, monotonic() - began)
        self._finished = set()
