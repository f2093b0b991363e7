"""What the product's tasks have in common."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps

from django.db import DatabaseError, connection

from config.postgresql.advisory_locks import AdvisoryLock

TAKE = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
RELEASE = "SELECT pg_advisory_unlock(%s, hashtext(%s))"


@contextmanager
def held_alone(name: str) -> Iterator[bool]:
    """Hold the lock of this name until the block ends or the process dies; says whether nobody else has it."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [AdvisoryLock.TASK.value, name])
        [is_mine] = cursor.fetchone() or [False]
    try:
        yield is_mine
    finally:
        if is_mine:
            # A connection that broke meanwhile has released it.
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute(RELEASE, [AdvisoryLock.TASK.value, name])


def one_at_a_time(work: Callable[[], None]) -> Callable[[], None]:
    """Make a task that does nothing while another process is at it, so that calls which piled up cost nothing."""

    @wraps(work)
    def work_alone() -> None:
        with held_alone(f"{work.__module__}.{work.__name__}") as is_mine:
            if is_mine:
                work()

    return work_alone


def in_batches(work: Callable[[], int | bool], *, seconds: float) -> None:
    """Work batch by batch until one finds nothing, or for so long: the next call goes on."""
    until = time.monotonic() + seconds
    while work() and time.monotonic() < until:
        pass
