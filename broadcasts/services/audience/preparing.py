"""Turns a chunk of contacts into recipients, with all consequences, in one transaction.

The transaction also writes how far preparation has come. After any crash the next run goes on from the same contact.
Two connections may prepare a broadcast at the same time, each with its own chunk (`chunks.py`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F
from django.db.models.functions import Least
from psycopg.errors import DeadlockDetected, LockNotAvailable

from broadcasts import events
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from broadcasts.services.audience.chunks import TakenChunk, find_chunk
from broadcasts.services.audience.expressions import Person, person_of
from broadcasts.services.audience.locking import InTheWay, wait_for_end
from broadcasts.services.audience.people import contacts_between
from broadcasts.services.audience.statements import insert, insert_duplicates, parameters_of, with_people
from broadcasts.services.audience.waves import add_waves
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recording import record_recipient_events
from broadcasts.services.recipient_chunks import add_chunk
from config.celery import wake_up
from config.db import violated_constraint
from workspaces.conversations.services.outbound.queueing import SENDER

UNIQUE: Final = ("broadcasts_recipient_pkey", "recipient_address_once_per_broadcast")
# A server crash may undo the commit, but nothing is lost. The position goes back together with the recipients, and a
# sender's claim is written to the same log later than they are. Events differ: a receiver may have got an event that
# the crash undoes.
WAIT_FOR_NO_DISK: Final = "SET LOCAL synchronous_commit = off"
Status = Broadcast.Status


class Prepared(NamedTuple):
    """The number of recipients with the same moment and zone, or with the same reason to skip.

    Skipped recipients come with their `contacts`.
    """

    due_at: datetime
    timezone: str | None
    skip_reason: str | None
    number: int
    contacts: list[int] | None


@dataclass(slots=True)
class Outcome:
    """A chunk's results, added up."""

    ready: dict[datetime, Counter[str | None]] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    total: int = 0

    def add(self, rows: Iterable[Prepared]) -> None:
        for row in rows:
            self.total += row.number
            if row.skip_reason is None:
                self.ready.setdefault(row.due_at, Counter())[row.timezone] += row.number
            else:
                self.skipped.extend(row.contacts or ())

    @property
    def counts(self) -> Mapping[str, int]:
        return {"pending": self.total - len(self.skipped), "skipped": len(self.skipped)}


class _HasMoved(Exception):
    """The chunk is rolled back: the broadcast was cancelled, or the chunk before was not prepared."""


def prepare_chunk(broadcast: int, *, now: datetime, size: int | None = None) -> bool:
    """Prepare a broadcast's next free chunk. Returns whether to call it again."""
    try:
        return _prepare_next(broadcast, now, size)
    except InTheWay:
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
    chunk: TakenChunk | None = None
    try:
        with transaction.atomic():
            chunk = find_chunk(broadcast, size=size, alone=alone)
            if chunk is not None:
                _prepare(chunk, now)
    except _HasMoved:
        return chunk is not None and chunk.previous is not None
    return chunk is not None


def _prepare(chunk: TakenChunk, now: datetime) -> None:
    broadcast, frozen = chunk.broadcast, dict[str, Any](chunk.broadcast.frozen or {})
    outcome = Outcome()
    if chunk.up_to > chunk.after:
        person = person_of(broadcast, FrozenMessage.from_json(frozen), broadcast.started_at or now)
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


def _insert(broadcast: int, person: Person, people: Any) -> list[Prepared]:
    """Insert a chunk. Insert it again with care if an address is in the broadcast already, which is rare."""
    try:
        with transaction.atomic():
            return _run(insert(person, is_careful=False), broadcast, person, people)
    except IntegrityError as error:
        if violated_constraint(error) not in UNIQUE:
            raise
    rows = _run(insert(person, is_careful=True), broadcast, person, people)
    return rows + _run(insert_duplicates(person), broadcast, person, people)


def _run(statement: str, broadcast: int, person: Person, people: Any) -> list[Prepared]:
    with connection.cursor() as cursor:
        cursor.execute(with_people(statement, person, people, cursor), parameters_of(person, broadcast))
        return [Prepared(*row) for row in cursor.fetchall()]


def _commit_without_waiting() -> None:
    with connection.cursor() as cursor:
        cursor.execute(WAIT_FOR_NO_DISK)


def _advance(chunk: TakenChunk, outcome: Outcome) -> None:
    """Write how far preparation has come. Raises if the broadcast was cancelled or the part before is not prepared."""
    own = Broadcast.objects.filter(
        pk=chunk.broadcast.pk, status__in=(Status.SENDING, Status.PAUSED), prepared_up_to=chunk.after
    )
    changes: dict[str, Any] = {"next_due_at": Least(F("next_due_at"), min(outcome.ready))} if outcome.ready else {}
    done = own.filter(is_prepared=False).update(
        prepared_up_to=chunk.up_to,
        is_prepared=chunk.is_last,
        recipients_count=F("recipients_count") + outcome.total,
        **changes,
    )
    if not done:
        raise _HasMoved
    if outcome.ready:
        wake_up(SENDER)
