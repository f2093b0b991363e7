"""`python -m tests.broadcasts.services.killed_preparation`: prepares broadcasts, killed at each of its statements.

Every child goes on where the one before it was killed: the first after its first statement, the second after its
second, and so on, each once before that statement is executed and once after, until one comes to the end. With `two`
each works over two connections at once, and is killed before the statement only: with the next one that comes to the
same. With `careless` the place that preparation has come to is written in a transaction of its own, which must not go
unnoticed.
"""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import count
from typing import Any

import django
from django.db import connection

from tests.processes.killed_at_statements import kill_at

CHUNK = 4


def be_careless() -> None:
    """Commit the place before the recipients."""
    preparing: Any = import_module("broadcasts.services.audience.preparing")
    find_chunk, advance = preparing.find_chunk, preparing._advance

    def find_and_write(broadcast: int, **options: Any) -> Any:
        chunk = find_chunk(broadcast, **options)
        if chunk is not None:
            with connection.copy().cursor() as cursor:
                place = [chunk.up_to, broadcast]
                cursor.execute("UPDATE broadcasts_broadcast SET prepared_up_to = %s WHERE id = %s", place)
        return chunk

    preparing.find_chunk = find_and_write
    preparing._advance = lambda chunk, outcome: advance(chunk._replace(after=chunk.up_to), outcome)


def child(statement: int, *, is_before: bool) -> int:
    """Work in a process of its own; gives the signal that ended it, or 0."""
    pid = os.fork()
    if pid == 0:
        from tests.broadcasts.services.making import work

        if "careless" in sys.argv:
            be_careless()
        killed = kill_at(statement, is_before=is_before)

        def prepare() -> None:
            with connection.execute_wrapper(killed):
                work(CHUNK)

        with ThreadPoolExecutor(2) as pool:
            works = [pool.submit(prepare) for _ in range(2 if "two" in sys.argv else 1)]
        for done in works:
            done.result()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return os.WTERMSIG(status)


def main() -> None:
    kills = 0
    for statement in count(1, 3 if "careless" in sys.argv else 1):
        for is_before in (True,) if "two" in sys.argv else (False, True):
            if child(statement, is_before=is_before) != signal.SIGKILL:
                sys.stdout.write(str(kills))
                return
            kills += 1


if __name__ == "__main__":
    django.setup()
    main()
