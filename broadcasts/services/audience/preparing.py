"""Preparation: a chunk of contacts becomes recipients, with everything that follows from it, in one transaction.

Whatever dies, and wherever, the next run goes on from the same contact: the place it has come to is written with the
recipients. Only one process works on a broadcast at a time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Least

from broadcasts import events
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.audience.expressions import Person, person_of
from broadcasts.services.audience.people import contacts_between, end_of_chunk
from broadcasts.services.audience.skips import wants_skips
from broadcasts.services.audience.statements import insert, insert_duplicates, parameters_of, with_people
from broadcasts.services.audience.waves import add_waves
from broadcasts.services.counts import add_counts
from broadcasts.services.events.recording import record_recipient_events
from config.db import violated_constraint

# Contacts that the walk passes in one transaction, which then takes about 50 ms.
CHUNK: Final = 5_000
# Where each skipped recipient is an event.
CHUNK_WITH_EVENTS: Final = 1_000
# The class of the advisory locks: any constant that nothing else in this database locks.
LOCKS: Final = 7_105_007
LOCK: Final = "SELECT pg_try_advisory_xact_lock(%s, %s)"
UNIQUE: Final = ("broadcasts_recipient_pkey", "recipient_address_once_per_broadcast")
Status = Broadcast.Status


class Prepared(NamedTuple):
    """So many recipients that are due at one moment in one zone, or are skipped for one reason."""

    due_at: datetime
    timezone: str | None
    skip_reason: str | None
    number: int


@dataclass(slots=True)
class Chunk:
    """What a chunk has come to."""

    ready: dict[datetime, Counter[str | None]] = field(default_factory=dict)
    skipped: int = 0
    total: int = 0

    def add(self, rows: Iterable[Prepared]) -> None:
        for row in rows:
            self.total += row.number
            if row.skip_reason is None:
                self.ready.setdefault(row.due_at, Counter())[row.timezone] += row.number
            else:
                self.skipped += row.number

    @property
    def counts(self) -> Mapping[str, int]:
        return {"pending": self.total - self.skipped, "skipped": self.skipped}


class _HasMoved(Exception):
    """The broadcast was cancelled meanwhile: the chunk is rolled back."""


def prepare_chunk(broadcast: int, *, now: datetime, size: int | None = None) -> bool:
    """Prepare the next contacts of a broadcast; says whether anything was done."""
    try:
        with transaction.atomic():
            found = _unprepared(broadcast)
            if found is None:
                return False
            _prepare(found, size, now)
    except _HasMoved:
        return False
    return True


def _unprepared(broadcast: int) -> Broadcast | None:
    """Read a broadcast for whoever comes first. Its row stays free, so that it can be paused at any time."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [LOCKS, broadcast % 2**31])
        [is_mine] = cursor.fetchone() or [False]
    if not is_mine:
        return None
    rows = Broadcast.objects.select_related("channel", "workspace")
    return rows.filter(unprepared(), pk=broadcast).first()


def unprepared() -> Q:
    """What is under way and has contacts left to walk; one whose message was refused has nothing to prepare."""
    return Q(status__in=(Status.SENDING, Status.PAUSED), is_prepared=False) & ~Q(frozen__is_refused=True)


def _prepare(broadcast: Broadcast, size: int | None, now: datetime) -> None:
    frozen: dict[str, Any] = dict(broadcast.frozen or {})
    started_at = broadcast.started_at or now
    wants_events = wants_skips(broadcast)
    after, last = broadcast.prepared_up_to, broadcast.last_contact or 0
    up_to = end_of_chunk(broadcast, size or (CHUNK_WITH_EVENTS if wants_events else CHUNK))
    chunk = Chunk()
    if up_to > after:
        person = person_of(broadcast, FrozenMessage.from_json(frozen), started_at)
        people = contacts_between(broadcast, frozen.get("filter") or {}, after=after, up_to=up_to)
        chunk.add(_insert(broadcast.pk, person, people))
    _advance(broadcast, chunk, up_to, is_last=up_to >= last)
    add_waves(broadcast.pk, chunk.ready)
    if chunk.skipped and wants_events:
        _record_skips(broadcast, after, up_to, now)
    add_counts({broadcast.pk: chunk.counts})


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


def _advance(broadcast: Broadcast, chunk: Chunk, up_to: int, *, is_last: bool) -> None:
    """Write how far it has come, unless it was cancelled, or somebody else has come further."""
    own = Broadcast.objects.filter(
        pk=broadcast.pk, status__in=(Status.SENDING, Status.PAUSED), prepared_up_to=broadcast.prepared_up_to
    )
    changes: dict[str, Any] = {"next_due_at": Least(F("next_due_at"), min(chunk.ready))} if chunk.ready else {}
    done = own.filter(is_prepared=False).update(
        prepared_up_to=up_to, is_prepared=is_last, recipients_count=F("recipients_count") + chunk.total, **changes
    )
    if not done:
        raise _HasMoved


def _record_skips(broadcast: Broadcast, after: int, up_to: int, now: datetime) -> None:
    chunk = Recipient.objects.of(broadcast).filter(contact_id__gt=after, contact_id__lte=up_to)
    skipped = chunk.exclude(skip_reason=None).values_list("broadcast_id", "contact_id")
    record_recipient_events(events.RECIPIENT_SKIPPED, list(skipped), now=now)
