"""Handles recipients that wait: for room, for a status that never comes, or on a disconnected channel."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final, NamedTuple

from broadcasts import events
from broadcasts.sending import statements
from broadcasts.sending.results import expect, lock_broadcasts, record_failed
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recipient_events import record_recipient_events
from broadcasts.services.moving import pause_for_fault
from channelconnect.providers.messages import NOT_CONNECTED, OUTCOME_UNKNOWN
from channelconnect.sending.claiming import allowance
from channelconnect.sending.sources import UNKNOWN_SECONDS
from channelconnect.sending.transactions import project_transaction
from channelconnect.services.allowance_keys import Key, keys_of
from config.db import database_now
from config.leases.arrays import integers, texts
from config.leases.claimer import SOON_SECONDS
from config.leases.connection import Connection
from config.postgresql.advisory_locks import AdvisoryLock

OVERDUE_BATCH: Final = 500
LONGEST_UNKNOWN_SECONDS: Final = UNKNOWN_SECONDS * 2
# The time for this in each half second.
ENDING_SECONDS: Final = 0.1
MOST_BROADCASTS: Final = 1_000
# At most this many recipients of an allowance are released and unsent at the same time.
RELEASED_AT_ONCE: Final = 2_000
# Only one sender at a time releases held recipients.
ONE_AT_A_TIME: Final = f"SELECT pg_try_advisory_xact_lock({AdvisoryLock.ALLOWANCE_RELEASE.value})"


class Waiting(NamedTuple):
    """Whether recipients are due, are due within `SOON_SECONDS`, wait for room, or lack a status for too long."""

    is_due: bool
    is_soon: bool
    is_held: bool
    is_overdue: bool


def look(connection: Connection) -> Waiting:
    """Find what to do about waiting recipients. It is usually nothing, and one statement says so."""
    values = {"soon": SOON_SECONDS, "longest": LONGEST_UNKNOWN_SECONDS}
    row = connection.execute(statements.LOOK, values, prepare=True).fetchone()
    return Waiting._make(row) if row else Waiting(True, True, True, True)


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


def end_overdue(*, seconds: float = ENDING_SECONDS) -> None:
    """Fail recipients that got no status for fifteen minutes. No batch starts after `seconds`.

    After a restore there may be a million of them, and recipients that are ready must not wait for that.
    """
    values = {
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
            record_failed(keys, changes, now=database_now())
            add_counts(changes)


def pause_broken(connection: Connection) -> None:
    """Pause broadcasts that are due on a channel that is not connected."""
    with connection.cursor() as cursor:
        cursor.execute(statements.BROKEN, {"limit": MOST_BROADCASTS}, prepare=True)
        broken = [broadcast for broadcast, _ in cursor.fetchall()]
    if broken:
        with project_transaction():
            pause_for_fault(broken, NOT_CONNECTED.sentence, database_now())


def release_held(connection: Connection, *, after: int, limit: int = MOST_BROADCASTS) -> int:
    """Release held recipients of the next broadcasts after `after`. Returns the last of these; 0 at the end."""
    with connection.cursor() as cursor:
        cursor.execute(statements.WAITING, {"after": after, "limit": limit}, prepare=True)
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
        rooms = allowance.rooms_of(cursor, waiting)
        open_keys = [key for key in waiting if rooms[key].is_open]
        lock_broadcasts(cursor, [broadcast for key in open_keys for broadcast in waiting[key]])
        released: Counter[int] = Counter()
        for key in open_keys:
            room = min(RELEASED_AT_ONCE, rooms[key].for_broadcasts)
            _release(cursor, waiting[key], room, released)
        now = database_now()
        expect(cursor, [(broadcast, now) for broadcast in released])
        add_counts({broadcast: {"held": -number} for broadcast, number in released.items()})
    return True


def _release(cursor: Any, broadcasts: list[int], room: int, released: Counter[int]) -> None:
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
