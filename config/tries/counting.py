"""Counts the tries of work before each begins. So work that kills its process ends some day, and other work goes on.

A try's row is committed before the work begins. It is deleted when the work has ended, well or by an exception. What an
exception means is for the work's owner to say, and some owners count it as a try that died. So a row that exists when
work begins is from a try whose process died, or that took longer than its task may. After `MOST_TRIES` such tries in a
row the owner gives the work up, and the row stays for support staff.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, CharField, Exists, Model, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast, Now

from config.metrics import Gauge
from config.postgresql.concurrency import AdvisoryLock
from config.retention import ExpiredRows
from config.tries.models import BegunWork

logger = logging.getLogger(__name__)

MOST_TRIES: Final = 5
KEPT: Final = timedelta(days=30)
# Work that died comes after all other work, but waits no longer than this.
LONGEST_WAIT: Final = timedelta(minutes=5)
# Work that was set aside, and is asked for again after a day or more, counts its tries from the beginning.
BEGIN: Final = """
INSERT INTO tries_begunwork AS known (kind, key, tries, begun_at)
SELECT %(kind)s, key, 1, statement_timestamp() FROM ({keys}) AS begun (key) ORDER BY key
ON CONFLICT (kind, key) DO UPDATE SET begun_at = EXCLUDED.begun_at,
    tries = CASE WHEN known.set_aside_at < EXCLUDED.begun_at - interval '1 day' THEN 1
        ELSE least(known.tries + 1, 1000) END,
    set_aside_at = CASE WHEN known.set_aside_at >= EXCLUDED.begun_at - interval '1 day' THEN known.set_aside_at END
RETURNING key, tries
"""
BEGIN_SEVERAL: Final = BEGIN.format(keys="SELECT unnest(%(keys)s::text[])")
# A lock of the connection says whether the process that has begun is alive.
BEGIN_ALONE: Final = BEGIN.format(
    keys="SELECT %(key)s::text WHERE pg_try_advisory_lock(%(lock)s, hashtext(%(kind)s || ' ' || %(key)s))"
)
UNLOCK: Final = "SELECT pg_advisory_unlock(%(lock)s, hashtext(%(kind)s || ' ' || %(key)s))"
SET_ASIDE: Final = """
UPDATE tries_begunwork SET set_aside_at = statement_timestamp()
WHERE kind = %(kind)s AND key = %(key)s AND set_aside_at IS NULL
"""
# The commit does not wait for a disk. If a crash of PostgreSQL takes it back, one try too many is counted until the
# next one ends.
END: Final = """
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
DELETE FROM tries_begunwork USING quick WHERE kind = %(kind)s AND key = %(key)s AND tries = %(number)s
"""
STUCK: Final = """
SELECT kind, count(*) FROM (SELECT kind FROM tries_begunwork WHERE set_aside_at IS NOT NULL LIMIT 10000) AS aside
GROUP BY kind
"""

Result = TypeVar("Result")
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Try:
    """A try that has been written down. `number` counts it and the tries before it that never ended."""

    kind: str
    key: str
    number: int

    @property
    def comes_too_often(self) -> bool:
        return self.number > MOST_TRIES

    @property
    def is_another(self) -> bool:
        """Whether a try before it died."""
        return self.number > 1

    def end(self) -> None:
        """Delete the try, because its work has ended. If another process has begun a try meanwhile, that try stays."""
        self.execute(END)

    def set_aside(self) -> None:
        """Keep the try for support staff, because its work is not tried any more."""
        if self.execute(SET_ASIDE):
            logger.error("work is set aside", extra={"kind": self.kind, "key": self.key, "tries": MOST_TRIES})

    def execute(self, statement: str) -> int:
        with connection.cursor() as cursor:
            lock = AdvisoryLock.TRY.value
            cursor.execute(statement, {"kind": self.kind, "key": self.key, "number": self.number, "lock": lock})
            return int(cursor.rowcount)


def begin_tries(*, kind: str, keys: Collection[object]) -> dict[str, Try]:
    """Write down that this work begins, by its key. The caller commits this before the work begins."""
    with connection.cursor() as cursor:
        cursor.execute(BEGIN_SEVERAL, {"kind": kind, "keys": [str(key) for key in keys]})
        return {key: Try(kind, key, number) for key, number in cursor.fetchall()}


def forget_tries(*, kind: str, keys: Iterable[object]) -> None:
    """Count the tries of work from the beginning, because somebody has asked for it again."""
    BegunWork.objects.filter(kind=kind, key__in=[str(key) for key in keys]).delete()


def has_begun(kind: str, *, key: str = "pk") -> Exists:
    """Return the condition that a row's work of this kind is under way, or that its process died.

    `key` is the column that names the work.
    """
    return Exists(_tries_of(kind, key))


def rests(kind: str, waits: Sequence[timedelta], *, key: str = "pk") -> Exists:
    """Return the condition that a row's work waits after its last try; `waits` are those after the first tries.

    After more tries than there are waits it waits as long as the last time. Work that is only to be given up, after
    `MOST_TRIES`, does not wait; if that fails too, it does.
    """
    counted = [When(tries=number, then=Value(wait)) for number, wait in enumerate(waits, 1) if number < MOST_TRIES]
    wait = Case(*counted, When(tries=MOST_TRIES, then=Value(timedelta(0))), default=Value(waits[-1]))
    return Exists(_tries_of(kind, key).filter(begun_at__gt=Now() - wait))


def died_of(kind: str, keys: Collection[object]) -> frozenset[str]:
    """Return those of a few keys whose work is under way, or whose process died."""
    rows = BegunWork.objects.filter(kind=kind, key__in=[str(key) for key in keys])
    return frozenset(rows.values_list("key", flat=True))


def next_rows(rows: "QuerySet[Row]", *, kind: str, most: int = 1, key: str = "pk") -> list[Row]:
    """Return the first `most` rows whose work never died. A row whose work died comes alone.

    It comes if there are no others, or after five minutes. Among such rows, the one with the fewest tries comes first.
    """
    if not BegunWork.objects.filter(kind=kind).exists():
        return list(rows[:most])
    found, tries = has_begun(kind, key=key), _tries_of(kind, key)
    died = rows.filter(found).order_by(Subquery(tries.values("tries")), *rows.query.order_by)
    waited = died.filter(Exists(tries.filter(begun_at__lt=Now() - LONGEST_WAIT)))
    return list(waited[:1]) or list(rows.filter(~found)[:most]) or list(died[:1])


def begin_next(rows: "QuerySet[Row]", *, kind: str, key: str = "pk") -> tuple[Row, Try] | None:
    """Begin the work of the first of these rows. `next_rows` says when a row comes whose process died before.

    If the rows ask for locks, these are held until the try is committed.
    """
    with transaction.atomic():
        for row in next_rows(rows, kind=kind, key=key):
            name = str(getattr(row, key))
            return row, begin_tries(kind=kind, keys=[name])[name]
    return None


def _tries_of(kind: str, key: str) -> "QuerySet[BegunWork]":
    return BegunWork.objects.filter(kind=kind, key=Cast(OuterRef(key), CharField()))


def run_counted(
    work: Callable[[], Result], *, kind: str, key: object, give_up: Callable[[], Result], counts_faults: bool = False
) -> Result:
    """Do a counted piece of work, or give it up if it died too often. No transaction may be open."""
    with transaction.atomic(durable=True):
        begun = begin_tries(kind=kind, keys=[key])[str(key)]
    return run_begun(begun, work, give_up=give_up, counts_faults=counts_faults)


def run_alone(
    work: Callable[[], Result], *, kind: str, key: object, give_up: Callable[[], Result], otherwise: Result
) -> Result:
    """Do counted work that several processes may try at once. Returns `otherwise` if another process is at it.

    So a live process is never taken for dead. Exceptions count as tries that died.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(BEGIN_ALONE, {"kind": kind, "key": str(key), "lock": AdvisoryLock.TRY.value})
        begun = [Try(kind, name, number) for name, number in cursor.fetchall()]
    if not begun:
        return otherwise
    try:
        return run_begun(begun[0], work, give_up=give_up, counts_faults=True)
    finally:
        # If the connection broke meanwhile, the lock is released already.
        with suppress(DatabaseError):
            begun[0].execute(UNLOCK)


def run_begun(
    begun: Try, work: Callable[[], Result], *, give_up: Callable[[], Result], counts_faults: bool = False
) -> Result:
    """Do work whose try has begun, or give it up. With `counts_faults` an exception counts as a try that died."""
    if begun.comes_too_often:
        given_up = give_up()
        begun.set_aside()
        return given_up
    try:
        done = work()
    except SoftTimeLimitExceeded:
        raise  # the next try would take as long: it stays counted
    except BaseException as fault:
        if not (counts_faults and isinstance(fault, Exception)):  # the end of this process says nothing of the work
            begun.end()
        raise
    begun.end()
    return done


def _set_aside_by_kind() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(STUCK)
        found: list[tuple[str, int]] = cursor.fetchall()
    return {kind: float(number) for kind, number in found}


METRIC: Final = Gauge(
    "work_set_aside",
    "Pieces of work that killed their process, or broke off, five times and are not tried again, by their kind.",
    read=_set_aside_by_kind,
    label="kind",
)
RULES: Final = (ExpiredRows("tries_begunwork", "begun_at", KEPT, order="begun_at").rule("begun_work"),)
