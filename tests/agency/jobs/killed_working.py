"""`python -m tests.agency.jobs.killed_working`: does what waits, killed at each of its statements.

Every child goes on where the one before it was killed, each once before a statement is sent and once after, until one
comes to the end.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import django

CHUNK = 2
BATCH = 2


def work() -> None:
    """Do all that waits, in the smallest pieces."""
    # Models can be imported only after `django.setup()`, which this process calls by itself.
    from agency.models import BulkOperation, Export
    from agency.services.bulk.working import work_on
    from agency.services.exports.files import write_piece
    from config.db import database_now

    for operation in BulkOperation.objects.order_by("pk"):
        while work_on(operation.pk, now=database_now(), chunk=CHUNK, batch=BATCH):
            pass
    for export in Export.objects.order_by("pk"):
        while write_piece(export.pk, now=database_now(), size=CHUNK):
            pass


def kill_at(statement: int, *, is_before: bool) -> Callable[..., Any]:
    """Give a wrapper of statements that kills this process at the one of this number."""
    numbers = count(1)

    def run(execute: Callable[..., Any], *arguments: Any) -> Any:
        number = next(numbers)
        if is_before and number == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        done = execute(*arguments)
        if number == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return run


def child(statement: int, *, is_before: bool) -> int:
    """Work in a process of its own; gives the signal that ended it, or 0."""
    pid = os.fork()
    if pid == 0:
        from django.db import connection  # after `django.setup()`, as above

        with connection.execute_wrapper(kill_at(statement, is_before=is_before)):
            work()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return os.WTERMSIG(status)


def main() -> None:
    kills = 0
    for statement in count(1):
        for is_before in (False, True):
            if child(statement, is_before=is_before) != signal.SIGKILL:
                sys.stdout.write(str(kills))
                return
            kills += 1


if __name__ == "__main__":
    django.setup()
    main()
