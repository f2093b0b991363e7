"""Starts tasks whose rows are due, and has the locks and loops that the product's tasks share."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar

from celery import current_app, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, connection
from django.db.models import Model, QuerySet

from config.hooks import Named, Registry
from config.metrics import count
from config.postgresql.concurrency import AdvisoryLock
from config.queues import TASKS

logger = logging.getLogger(__name__)

# At most this many calls wait in a queue while no worker takes them. They carry no data, so more would add nothing.
# No queue has so many tasks: beat may send all of them at once, and then leaves none out.
MOST_WAITING: Final = 50


class QueueLengths:
    """Counts waiting calls over a channel that stays open. A new channel would be a new connection to Redis."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._channel: Any = None

    def are_enough(self, queue: str) -> bool:
        """Return whether a queue needs no further call."""
        return self.number(queue) >= MOST_WAITING

    def number(self, queue: str) -> int:
        """Return how many calls wait in a queue; 0 if the broker knows no such queue or cannot be asked."""
        try:
            if self._channel is None:
                self._channel = self._connection.channel()
            return int(self._channel.queue_declare(queue=queue, passive=True).message_count)
        except self._connection.channel_errors:
            return 0  # Redis forgets an empty queue; the channel still works after that
        except self._connection.connection_errors:
            self.close()
            return 0

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with suppress(*self._connection.connection_errors, *self._connection.channel_errors):
                channel.close()


# One statement finds the work of all tasks. So an idle product costs one statement every two seconds, however many
# tasks it has. Beat also sends each of them once a minute, so a task with a wrong condition here is late but not
# forgotten.

# With EXISTS and old estimates, PostgreSQL may read a whole table. Ordered rows prevent that.
KIND: Final = "SELECT %s::text WHERE "
FOUND: Final = "({}) IS NOT NULL"


@dataclass(frozen=True, slots=True)
class DueWork:
    """Where to look for a kind of work. There is some if any of `rows` finds a row.

    `name` is that of the task, or of another kind. Each of `rows` returns a QuerySet, compared with `Now()`, in the
    order in which the task takes its rows. It may also be a statement without placeholders that returns one column and
    at most one row.
    """

    name: str
    rows: tuple[Callable[[], QuerySet[Model]] | str, ...]


due_work = Registry[DueWork](
    "kinds of due work",
    called=(
        "`start_due_tasks` calls `rows` of all once in a process, and runs the resulting statement every two seconds"
    ),
    transaction="none",
    failure="ends the task; beat still sends each of the tasks once a minute",
)


def due_among(kinds: Iterable[DueWork]) -> set[str]:
    """Return the names of the kinds that have work, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(*_look(tuple(kinds)))
        return {name for (name,) in cursor.fetchall()}


@lru_cache(maxsize=8)
def _look(kinds: tuple[DueWork, ...]) -> tuple[str, list[Any]]:
    """Return the statement and its values. Both stay the same, so they are cached."""
    selects, values = list[str](), list[object]()
    for kind in kinds:
        rows = [_first(one) for one in kind.rows]
        selects.append(KIND + " OR ".join(FOUND.format(select) for select, _ in rows))
        values += [kind.name, *(value for _, own in rows for value in own)]
    return " UNION ALL ".join(selects), values


def _first(rows: Callable[[], QuerySet[Model]] | str) -> tuple[str, tuple[object, ...]]:
    return (rows, ()) if isinstance(rows, str) else rows().values("pk")[:1].query.sql_with_params()


@shared_task(name="config.start_due_tasks")
def start_due_tasks() -> None:
    """Send each task that has work, unless enough calls wait in its queue."""
    names = due_among(due_work)
    if not names:
        return
    queues = {task.name: task.queue.name for task in TASKS}
    with current_app.producer_or_acquire() as producer:
        waiting = QueueLengths(producer.connection)
        for name in sorted(names):
            if not waiting.are_enough(queues[name]):
                current_app.send_task(name, producer=producer)
        waiting.close()


TAKE = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
RELEASE = "SELECT pg_advisory_unlock(%s, hashtext(%s))"


@contextmanager
def advisory_lock(name: str) -> Iterator[bool]:
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
        with advisory_lock(f"{work.__module__}.{work.__name__}") as is_mine:
            if is_mine:
                work()

    return work_alone


def in_batches(work: Callable[[], int | bool], *, seconds: float) -> None:
    """Work batch by batch until a batch finds nothing or the time is over. The next call goes on."""
    until = time.monotonic() + seconds
    while work() and time.monotonic() < until:
        pass


Part = TypeVar("Part", bound=Named)


def run_each(parts: Iterable[Part], work: Callable[[Part], object], *, kind: str) -> None:
    """Do the work of each part of a task. One that fails is logged and counted, and the others have their turns.

    What says nothing about the part ends the task: that its time is over, or that the database is away.
    """
    for part in parts:
        try:
            work(part)
        except SoftTimeLimitExceeded:
            raise
        except Exception as error:  # the outermost loop: a fault of one part must not stop the others
            if not connection.is_usable():
                raise
            name = f"{kind} {part.name}"
            logger.exception("a part of a task failed", extra={"part": name, "fault": type(error).__name__})
            count("periodic_faults_total", 1, name)
