"""Locks and loops that the product's tasks share."""

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
    """Hold the lock of this name until the block ends or the process dies. Yields whether this process has it."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [AdvisoryLock.TASK.value, name])
        [is_mine] = cursor.fetchone() or [False]
    try:
        yield is_mine
    finally:
        if is_mine:
            # If the connection broke meanwhile, the lock is released already.
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute(RELEASE, [AdvisoryLock.TASK.value, name])


def one_at_a_time(work: Callable[[], None]) -> Callable[[], None]:
    """Make a task do nothing while another process runs it, so that piled-up calls cost nothing."""

    @wraps(work)
    def work_alone() -> None:
        with held_alone(f"{work.__module__}.{work.__name__}") as is_mine:
            if is_mine:
                work()

    return work_alone


def in_batches(work: Callable[[], int | bool], *, seconds: float) -> None:
    """Work batch by batch until a batch finds nothing or the time is over. The next call goes on."""
    until = time.monotonic() + seconds
    while work() and time.monotonic() < until:
        pass
