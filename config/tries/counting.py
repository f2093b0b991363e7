"""Counts the tries of work before each begins, so that work that kills its process ends, and others go on meanwhile.

A try's row is committed before the work begins and goes when the work has ended, well or by an exception: what an
exception means is its owner's to say. So a row that is found when work begins is of a try whose process died, or that
took longer than its task may. After `MOST_TRIES` of them in a row the work's owner gives it up, once, and the row stays
for support staff.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection, transaction
from django.db.models import Model, QuerySet

from config.metrics import Gauge
from config.retention.rules import OldRows
from config.tries.models import BegunWork

logger = logging.getLogger(__name__)

MOST_TRIES: Final = 5
KEPT: Final = timedelta(days=30)
# What was set aside and is asked for all the same, a day later and more, begins from the beginning.
BEGIN: Final = """
INSERT INTO tries_begunwork AS known (kind, key, tries, begun_at)
SELECT %s, key, 1, statement_timestamp() FROM unnest(%s::text[]) AS key ORDER BY key
ON CONFLICT (kind, key) DO UPDATE SET begun_at = EXCLUDED.begun_at,
    tries = CASE WHEN known.set_aside_at < EXCLUDED.begun_at - interval '1 day' THEN 1 ELSE known.tries + 1 END,
    set_aside_at = NULL
RETURNING key, tries
"""
SET_ASIDE: Final = "UPDATE tries_begunwork SET set_aside_at = statement_timestamp() WHERE kind = %s AND key = %s"
END: Final = "DELETE FROM tries_begunwork WHERE kind = %s AND key = %s"
STUCK: Final = """
SELECT kind, count(*) FROM (SELECT kind FROM tries_begunwork WHERE set_aside_at IS NOT NULL LIMIT 10000) AS aside
GROUP BY kind
"""

Result = TypeVar("Result")
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Try:
    """A try of a piece of work that has been written down; `number` counts those before it that never ended, and it."""

    kind: str
    key: str
    number: int

    @property
    def comes_too_often(self) -> bool:
        return self.number > MOST_TRIES


def begin_tries(*, kind: str, keys: Collection[object]) -> dict[str, Try]:
    """Write down that this work begins, by its key; the caller commits that before it does begin."""
    with connection.cursor() as cursor:
        cursor.execute(BEGIN, [kind, [str(key) for key in keys]])
        return {key: Try(kind, key, number) for key, number in cursor.fetchall()}


def begin_next(rows: "QuerySet[Row]", *, kind: str) -> tuple[Row, Try] | None:
    """Begin the work of the first of these rows: of those whose process died before, only when there is no other.

    The rows' own locks, where they ask for them, are held until the try is committed.
    """
    with transaction.atomic():
        died = died_before(kind)
        row = rows.exclude(pk__in=died).first() or rows.filter(pk__in=died).first() if died else rows.first()
        if row is None:
            return None
        return row, begin_tries(kind=kind, keys=[row.pk])[str(row.pk)]


def died_before(kind: str) -> frozenset[str]:
    """Give the keys of the work of this kind that is under way, or whose process died."""
    return frozenset(BegunWork.objects.filter(kind=kind).values_list("key", flat=True))


def run_counted(work: Callable[[], Result], *, kind: str, key: object, give_up: Callable[[], Result]) -> Result:
    """Do a piece of work whose try is counted; what died too often is given up instead. No transaction may be open."""
    with transaction.atomic(durable=True):
        begun = begin_tries(kind=kind, keys=[key])[str(key)]
    return run_begun(begun, work, give_up=give_up)


def run_begun(begun: Try, work: Callable[[], Result], *, give_up: Callable[[], Result]) -> Result:
    """Do what has begun, or give it up."""
    if begun.comes_too_often:
        given_up = give_up()
        logger.error("work is set aside", extra={"kind": begun.kind, "key": begun.key, "tries": MOST_TRIES})
        _execute(SET_ASIDE, begun)
        return given_up
    try:
        done = work()
    except SoftTimeLimitExceeded:
        raise  # the next try would take as long: it stays counted
    except BaseException:
        _execute(END, begun)
        raise
    _execute(END, begun)
    return done


def _execute(statement: str, begun: Try) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [begun.kind, begun.key])


def _set_aside_by_kind() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(STUCK)
        found: list[Any] = cursor.fetchall()
    return {kind: float(number) for kind, number in found}


METRIC: Final = Gauge(
    "work_set_aside",
    "Pieces of work that killed their process five times and are not tried again, by their kind.",
    read=_set_aside_by_kind,
    label="kind",
)
RULES: Final = (OldRows("tries_begunwork", "begun_at", KEPT, order="begun_at").rule("begun_work"),)
