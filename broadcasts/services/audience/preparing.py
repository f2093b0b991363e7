"""Preparation: a chunk of contacts becomes recipients, with everything that follows from it, in one transaction.

Whatever dies, and wherever, the next run goes on from the same contact: the place it has come to is written with the
recipients. Two connections may prepare a broadcast at the same time, each a chunk of its own (`chunks.py`).
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
# Nothing that a crash of the server takes back is lost: the place goes with the recipients, and a sender that claims
# one of them commits to the same log after them. Events are: a receiver may have had one that was taken back.
WAIT_FOR_NO_DISK: Final = "SET LOCAL synchronous_commit = off"
Status = Broadcast.Status


class Prepared(NamedTuple):
    """So many recipients that are due at one moment in one zone, or are skipped for one reason: these `contacts`."""

    due_at: datetime
    timezone: str | None
    skip_reason: str | None
    number: int
    contacts: list[int] | None


@dataclass(slots=True)
class Outcome:
    """What a chunk has come to."""

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
    """The broadcast was cancelled, or the chunk before was not prepared after all: the chunk is rolled back."""


def prepare_chunk(broadcast: int, *, now: datetime, size: int | None = None) -> bool:
    """Prepare the next contacts of a broadcast that nobody else prepares; says whether it is to be called again."""
    try:
        return _prepare_next(broadcast, now, size)
    except InTheWay:
        pass
    except OperationalError as error:
        if not isinstance(error.__cause__, DeadlockDetected):
            raise
    # Somebody in a later chunk has the address of somebody in an earlier one: one chunk after the other, then.
    try:
        return _prepare_next(broadcast, now, size, alone=True)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
    return False  # others are at it for long, and are not waited for


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
    """Insert a chunk; once more and with care where an address stands in the broadcast already, which is rare."""
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
    """Write how far it has come, unless it was cancelled, or what lies before the chunk is not prepared."""
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
