"""Prepares an audience: turns one chunk of contacts after the other into recipients, each in one transaction.

The transaction also stores how far preparation has come. After any crash the next run goes on from the same contact.
Two connections prepare chunks at the same time, but commit them in the order of their contacts. So one number says
how far a broadcast has come, and recipients appear in the order of their ids. Of two contacts with one address the
older gets the message.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Least
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.rows import TupleRow

from broadcasts import events
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from broadcasts.services.audience import (
    AudienceSql,
    audience_sql,
    contacts_between,
    end_of_chunk,
    insert,
    insert_duplicates,
    parameters_of,
    wants_skips,
    with_people,
)
from broadcasts.services.counts import add_counts
from broadcasts.services.listing import add_chunk
from broadcasts.services.recipient_events import record_recipient_events
from config.celery import wake_up
from config.db import violated_constraint
from config.postgresql.concurrency import AdvisoryLock
from workspaces.contacts.models import Contact
from workspaces.conversations.services.sending import SENDER

# Connections that prepare a broadcast share its audience. A service that removes or merges contacts has it alone. A
# chunk is named by the id of the contact before its first; for the next chunk that is `prepared_up_to`.

NUMBERS: Final = 2**31
# Preparation shares the lock, so a service that wants it alone waits until the chunks end.
SHARED: Final = "pg_try_advisory_xact_lock_shared(%(class)s, (id %% %(numbers)s)::int)"
ALONE: Final = "pg_advisory_xact_lock(%(class)s, (id %% %(numbers)s)::int) IS NOT NULL"
JOIN: Final = """
SELECT {audience}, pg_try_advisory_xact_lock(%(chunks)s, hashtext(id || ' ' || prepared_up_to)), prepared_up_to
FROM broadcasts_broadcast WHERE id = %(broadcast)s
"""
TAKE: Final = "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s || ' ' || %s))"
END: Final = "SELECT pg_advisory_xact_lock_shared(%s, hashtext(%s || ' ' || %s))"
SHORT_LOCK_TIMEOUT: Final = "SET LOCAL lock_timeout = 100"
DEFAULT_LOCK_TIMEOUT: Final = "SET LOCAL lock_timeout TO DEFAULT"
IS_WAITED_FOR: Final = """
SELECT EXISTS (SELECT FROM pg_locks own JOIN pg_locks other USING (transactionid)
    WHERE own.pid = pg_backend_pid() AND own.granted AND NOT other.granted)
"""
# A broadcast that is about to begin may be prepared before the transaction ends, so it is included. These locks cannot
# deadlock: services that need several take them in the same order, and preparation waits only for other preparation.
WAIT: Final = """
SELECT pg_advisory_xact_lock(%(class)s, (open.id %% %(numbers)s)::int)
FROM (
    SELECT id FROM broadcasts_broadcast
    WHERE workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
        AND NOT is_prepared AND (status IN ('sending', 'paused')
        OR (status = 'Scheduled' AND due_at <= statement_timestamp() + interval '1 minute'))
    ORDER BY id
) AS open
"""


class BlockingLock(Exception):
    """The transaction that this one waits for is waiting for a row of this one."""


class Joined(NamedTuple):
    """The result of `join_preparation`: whether it shares the audience, and whether it has the chunk after `after`."""

    may_prepare: bool
    is_taken: bool
    after: int


def join_preparation(broadcast: int, *, alone: bool) -> Joined | None:
    """Share a broadcast's audience until the transaction ends, or wait for all of it. Also try to take a chunk."""
    values = {
        "class": AdvisoryLock.AUDIENCE.value,
        "chunks": AdvisoryLock.AUDIENCE_CHUNK.value,
        "numbers": NUMBERS,
        "broadcast": broadcast,
    }
    row = _first(JOIN.format(audience=ALONE if alone else SHARED), values)
    return None if row is None else Joined(*row)


def take_chunk(broadcast: int, after: int) -> bool:
    """Take a chunk until the transaction ends. False if another transaction has it."""
    [is_taken] = _first(TAKE, [AdvisoryLock.AUDIENCE_CHUNK.value, broadcast, after]) or [False]
    return bool(is_taken)


def prepared_up_to(broadcast: int) -> int | None:
    """Return how far preparation has come now. A chunk that was free may have been prepared meanwhile."""
    return Broadcast.objects.filter(pk=broadcast).values_list("prepared_up_to", flat=True).first()


def wait_for_end(broadcast: int, after: int) -> None:
    """Wait until the transaction that has a chunk ends. Raises `BlockingLock` before the database finds a deadlock."""
    while not _has_ended(broadcast, after):
        [is_waited_for] = _first(IS_WAITED_FOR, None) or [False]
        if is_waited_for:
            raise BlockingLock


def _has_ended(broadcast: int, after: int) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(SHORT_LOCK_TIMEOUT)
            cursor.execute(END, [AdvisoryLock.AUDIENCE_CHUNK.value, broadcast, after])
            cursor.execute(DEFAULT_LOCK_TIMEOUT)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        return False
    return True


def block_preparation(contact: int) -> None:
    """Stop preparing broadcasts of a contact's workspace until the transaction ends. Chunks under way end first."""
    with connection.cursor() as cursor:
        cursor.execute(WAIT, {"class": AdvisoryLock.AUDIENCE.value, "numbers": NUMBERS, "contact": contact})


def _first(statement: str, values: Mapping[str, int | str] | list[int] | None) -> TupleRow | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: TupleRow | None = cursor.fetchone()
        return row


# The number of contacts that a transaction walks, which takes about 50 ms.
SIZE: Final = 5_000
# The size if each skipped recipient is an event.
SIZE_WITH_EVENTS: Final = 1_000
# Other connections may move on during the search. After this many attempts it stops; another search follows soon.
TRIES: Final = 8
Status = Broadcast.Status


class ClaimedChunk(NamedTuple):
    """The contacts with ids above `after`, up to `up_to`. `previous` is the chunk before, if others have it."""

    broadcast: Broadcast
    after: int
    up_to: int
    previous: int | None
    wants_events: bool

    @property
    def is_last(self) -> bool:
        return self.up_to >= (self.broadcast.last_contact or 0)


def unprepared() -> Q:
    """Select broadcasts under way with contacts left to walk. A refused message leaves nothing to prepare.

    A broadcast whose preparation was given up waits until it is resumed.
    """
    under_way = Q(status__in=(Status.SENDING, Status.PAUSED), is_prepared=False, broke_off_at=None)
    return under_way & ~Q(frozen__is_refused=True)


def find_chunk(broadcast: int, *, size: int | None, alone: bool) -> ClaimedChunk | None:
    """Take a chunk until the transaction ends. None if no chunk is left or free.

    The broadcast's row stays unlocked, so that it can be paused at any time. `alone` waits until no other connection
    prepares the broadcast.
    """
    joined = join_preparation(broadcast, alone=alone)
    if joined is None or not joined.may_prepare:
        return None
    rows = Broadcast.objects.select_related("channel", "workspace")
    found = rows.filter(unprepared(), pk=broadcast).first()
    if found is None:
        return None
    wants_events = wants_skips(found)
    size = size or (SIZE_WITH_EVENTS if wants_events else SIZE)
    place = _free_place(found, joined.after, size, is_taken=joined.is_taken)
    if place is None:
        return None
    after, previous = place
    return ClaimedChunk(found, after, end_of_chunk(found, after=after, size=size), previous, wants_events)


def _free_place(broadcast: Broadcast, after: int, size: int, *, is_taken: bool) -> tuple[int, int | None] | None:
    """Take the next chunk, or the one after it. Returns its `after`, and that of a chunk before that others have."""
    last = broadcast.last_contact or 0
    previous: int | None = None
    place: int | None = broadcast.prepared_up_to
    for _ in range(TRIES):
        if is_taken and place in (after, previous):
            return after, previous if place == previous else None
        if place is None or place == previous:
            return None  # two connections prepare it already
        if place == after:
            previous, after = after, end_of_chunk(broadcast, after=after, size=size)
            if after >= last:
                return None
        else:
            previous, after = None, place  # the chunk was free because it is already prepared
        is_taken, place = take_chunk(broadcast.pk, after), prepared_up_to(broadcast.pk)
    return None


ADD: Final = """
INSERT INTO broadcasts_wave AS wave (broadcast_id, due_at, timezones, total) VALUES (%s, %s, %s::varchar[], %s)
ON CONFLICT (broadcast_id, due_at) DO UPDATE SET total = wave.total + excluded.total,
    timezones = ARRAY (SELECT DISTINCT name FROM unnest(wave.timezones || excluded.timezones) AS name ORDER BY name)
"""


def add_waves(broadcast: int, ready: Mapping[datetime, Counter[str | None]]) -> None:
    """Add recipients to a broadcast's waves, inside the caller's transaction."""
    rows = [
        (broadcast, due_at, sorted(zone for zone in zones if zone is not None), zones.total())
        for due_at, zones in sorted(ready.items())
    ]
    with connection.cursor() as cursor:
        cursor.executemany(ADD, rows)


# The transaction also writes how far preparation has come. After any crash the next run goes on from the same contact.
# Two connections may prepare a broadcast at the same time, each with its own chunk.

UNIQUE: Final = ("broadcasts_recipient_pkey", "recipient_address_once_per_broadcast")
# A server crash may undo the commit, but nothing is lost. The position goes back together with the recipients, and a
# sender's claim is written to the same log later than they are. Events differ: a receiver may have got an event that
# the crash undoes.
ASYNC_COMMIT: Final = "SET LOCAL synchronous_commit = off"


class PreparedGroup(NamedTuple):
    """The number of recipients with the same moment and zone, or with the same reason to skip.

    Skipped recipients come with their `contacts`.
    """

    due_at: datetime
    timezone: str | None
    skip_reason: str | None
    number: int
    contacts: list[int] | None


@dataclass(slots=True)
class ChunkResult:
    """A chunk's results, added up."""

    ready: dict[datetime, Counter[str | None]] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    total: int = 0

    def add(self, rows: Iterable[PreparedGroup]) -> None:
        for row in rows:
            self.total += row.number
            if row.skip_reason is None:
                self.ready.setdefault(row.due_at, Counter())[row.timezone] += row.number
            else:
                self.skipped.extend(row.contacts or ())

    @property
    def counts(self) -> Mapping[str, int]:
        return {"pending": self.total - len(self.skipped), "skipped": len(self.skipped)}


class _ChunkConflict(Exception):
    """The chunk is rolled back: the broadcast was cancelled, or the chunk before was not prepared."""


def prepare_chunk(broadcast: int, *, now: datetime, size: int | None = None) -> bool:
    """Prepare a broadcast's next free chunk. Returns whether to call it again."""
    try:
        return _prepare_next(broadcast, now, size)
    except BlockingLock:
        pass
    except OperationalError as error:
        if not isinstance(error.__cause__, DeadlockDetected):
            raise
    # A contact in a later chunk has the address of a contact in an earlier chunk, so prepare them one after the other.
    try:
        return _prepare_next(broadcast, now, size, alone=True)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
    return False  # others are preparing it for long; do not wait


def _prepare_next(broadcast: int, now: datetime, size: int | None, *, alone: bool = False) -> bool:
    chunk: ClaimedChunk | None = None
    try:
        with transaction.atomic():
            chunk = find_chunk(broadcast, size=size, alone=alone)
            if chunk is not None:
                _prepare(chunk, now)
    except _ChunkConflict:
        return chunk is not None and chunk.previous is not None
    return chunk is not None


def _prepare(chunk: ClaimedChunk, now: datetime) -> None:
    broadcast, frozen = chunk.broadcast, dict[str, Any](chunk.broadcast.frozen or {})
    outcome = ChunkResult()
    if chunk.up_to > chunk.after:
        person = audience_sql(broadcast, FrozenMessage.from_json(frozen), broadcast.started_at or now)
        people = contacts_between(broadcast, frozen.get("filter") or {}, after=chunk.after, up_to=chunk.up_to)
        outcome.add(_insert(broadcast.pk, person, people))
    if chunk.previous is not None:
        wait_for_end(broadcast.pk, chunk.previous)
    _advance(chunk, outcome)
    add_chunk(broadcast.pk, up_to=chunk.up_to, number=outcome.total)
    add_waves(broadcast.pk, outcome.ready)
    if chunk.wants_events:
        skipped = [(broadcast.pk, contact) for contact in outcome.skipped]
        record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=now)
    else:
        _commit_without_waiting()
    add_counts({broadcast.pk: outcome.counts})


def _insert(broadcast: int, person: AudienceSql, people: "QuerySet[Contact]") -> list[PreparedGroup]:
    """Insert a chunk. Insert it again with care if an address is in the broadcast already, which is rare."""
    try:
        with transaction.atomic():
            return _run(insert(person, is_careful=False), broadcast, person, people)
    except IntegrityError as error:
        if violated_constraint(error) not in UNIQUE:
            raise
    rows = _run(insert(person, is_careful=True), broadcast, person, people)
    return rows + _run(insert_duplicates(person), broadcast, person, people)


def _run(statement: str, broadcast: int, person: AudienceSql, people: "QuerySet[Contact]") -> list[PreparedGroup]:
    with connection.cursor() as cursor:
        cursor.execute(with_people(statement, person, people, cursor), parameters_of(person, broadcast))
        return [PreparedGroup(*row) for row in cursor.fetchall()]


def _commit_without_waiting() -> None:
    with connection.cursor() as cursor:
        cursor.execute(ASYNC_COMMIT)


def _advance(chunk: ClaimedChunk, outcome: ChunkResult) -> None:
    """Write how far preparation has come. Raises if the broadcast was cancelled or the part before is not prepared."""
    own = Broadcast.objects.filter(
        pk=chunk.broadcast.pk, status__in=(Status.SENDING, Status.PAUSED), prepared_up_to=chunk.after
    )
    changes: dict[str, Least] = {"next_due_at": Least(F("next_due_at"), min(outcome.ready))} if outcome.ready else {}
    done = own.filter(is_prepared=False).update(
        prepared_up_to=chunk.up_to,
        is_prepared=chunk.is_last,
        recipients_count=F("recipients_count") + outcome.total,
        **changes,
    )
    if not done:
        raise _ChunkConflict
    if outcome.ready:
        wake_up(SENDER)
