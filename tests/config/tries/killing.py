"""Having work done by processes that are killed at it, and what has become of it then."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection

from config.tries import counting
from config.tries.models import BegunWork
from tests.processes.preloaded import Order, Preloaded

# No row of another kind has this number.
DEADLY: Final = 987_654


def kills_of(preloaded: Preloaded, work: str, *, at: str, value: object, **settings: object) -> int:
    """Have the work done by process after process; each is killed at this statement about this value."""
    return int(preloaded.run(Order("tests.config.tries.killed_work", (work, at, str(value)), settings)))


def set_aside(kind: str) -> set[str]:
    assert counting.METRIC.read
    counted: Any = counting.METRIC.read()
    found = BegunWork.objects.exclude(set_aside_at=None).filter(kind=kind)
    assert counted.get(kind, 0) == found.count()
    assert not BegunWork.objects.filter(set_aside_at=None).exists()
    return set(found.values_list("key", flat=True))


@contextmanager
def next_number(table: str) -> Iterator[None]:
    """Have the next row of a table be the deadly one. Later rows go on as before, so that no number comes twice."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
        [last] = cursor.fetchone() or [0]
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, DEADLY - 1])
        yield
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, last])
