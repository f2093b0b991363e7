"""`python -m tests.broadcasts.services.killed_preparation`: prepares broadcasts, killed at each of its statements.

Every child goes on where the one before it was killed: the first after its first statement, the second after its
second, and so on, each once before that statement is committed and once after, until one comes to the end. With
`careless` the place that preparation has come to is written in a transaction of its own, which must not go unnoticed.
"""

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import count
from typing import Any

import django

CHUNK = 4


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


def be_careless() -> None:
    """Commit the place before the recipients."""
    from django.db import connection

    preparing: Any = import_module("broadcasts.services.audience.preparing")
    find_end, advance, other = preparing.end_of_chunk, preparing._advance, connection.copy()

    def end_of_chunk(broadcast: Any, size: int) -> int:
        end: int = find_end(broadcast, size)
        with other.cursor() as cursor:
            cursor.execute("UPDATE broadcasts_broadcast SET prepared_up_to = %s WHERE id = %s", [end, broadcast.pk])
        return end

    def advance_again(broadcast: Any, chunk: Any, up_to: int, **options: Any) -> None:
        broadcast.prepared_up_to = up_to
        advance(broadcast, chunk, up_to, **options)

    preparing.end_of_chunk, preparing._advance = end_of_chunk, advance_again


def child(statement: int, *, is_before: bool) -> int:
    """Work in a process of its own; gives the signal that ended it, or 0."""
    pid = os.fork()
    if pid == 0:
        from django.db import connection

        from tests.broadcasts.services.making import work

        if "careless" in sys.argv:
            be_careless()
        with connection.execute_wrapper(kill_at(statement, is_before=is_before)):
            work(CHUNK)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return os.WTERMSIG(status)


def main() -> None:
    kills = 0
    for statement in count(1, 3 if "careless" in sys.argv else 1):
        for is_before in (False, True):
            if child(statement, is_before=is_before) != signal.SIGKILL:
                sys.stdout.write(str(kills))
                return
            kills += 1


if __name__ == "__main__":
    django.setup()
    main()
