"""Begins tasks whose rows are due: one statement looks for what all of them have to do.

So an idle product costs one statement every two seconds, however many tasks it has. Beat asks for each of them once a
minute as well, so that a task whose look is wrong is late, and is not forgotten.
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

# The order of the rows keeps PostgreSQL from reading all of a table, as it does for EXISTS by an old estimate.
KIND: Final = "SELECT %s::text WHERE "
FOUND: Final = "({}) IS NOT NULL"


@dataclass(frozen=True, slots=True)
class DueWork:
    """Where to look for a kind of work, such as that of the task of this name: any of `rows` that finds something.

    Each gives a QuerySet in the order in which the task takes its rows, compared with `Now()`; or it is a statement
    with one column, without placeholders, that gives one row at most.
    """

    name: str
    rows: tuple[Callable[[], QuerySet[Any]] | str, ...]


due_work = Registry[DueWork]("kinds of due work")


def due_among(kinds: Iterable[DueWork]) -> set[str]:
    """Give the names of the kinds of which there is something to do; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(*_look(tuple(kinds)))
        return {name for (name,) in cursor.fetchall()}


@lru_cache(maxsize=8)
def _look(kinds: tuple[DueWork, ...]) -> tuple[str, list[Any]]:
    """Give the statement, which is the same ever after, and its values."""
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
    """Ask for each task that has something to do, unless enough calls wait in its queue."""
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
