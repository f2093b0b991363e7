"""Starts tasks whose rows are due. One statement finds the work of all tasks.

So an idle product costs one statement every two seconds, however many tasks it has. Beat also sends each of them once a
minute, so a task with a wrong condition here is late but not forgotten.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from celery import current_app, shared_task
from django.db import connection
from django.db.models import QuerySet

from config.celery.calls import WaitingCalls
from config.hooks import Registry
from config.queues import TASKS

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
    rows: tuple[Callable[[], QuerySet[Any]] | str, ...]


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
    selects, values = list[str](), list[Any]()
    for kind in kinds:
        rows = [_first(one) for one in kind.rows]
        selects.append(KIND + " OR ".join(FOUND.format(select) for select, _ in rows))
        values += [kind.name, *(value for _, own in rows for value in own)]
    return " UNION ALL ".join(selects), values


def _first(rows: Callable[[], QuerySet[Any]] | str) -> tuple[str, tuple[Any, ...]]:
    return (rows, ()) if isinstance(rows, str) else rows().values("pk")[:1].query.sql_with_params()


@shared_task(name="config.start_due_tasks")
def start_due_tasks() -> None:
    """Send each task that has work, unless enough calls wait in its queue."""
    names = due_among(due_work)
    if not names:
        return
    queues = {task.name: task.queue.name for task in TASKS}
    with current_app.producer_or_acquire() as producer:
        waiting = WaitingCalls(producer.connection)
        for name in sorted(names):
            if not waiting.are_enough(queues[name]):
                current_app.send_task(name, producer=producer)
        waiting.close()
