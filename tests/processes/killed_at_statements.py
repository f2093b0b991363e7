"""Work that is done by processes that are killed at each of their statements, once before it is sent and once after.

Every process goes on where the one before it was killed, until one comes to the end.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from django.db import connection


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


def ended_child(work: Callable[[], None]) -> int:
    """Work in a process of its own; gives the signal that ended it, or 0."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed")
    return os.WTERMSIG(status)


def child(work: Callable[[], None], statement: int, *, is_before: bool) -> int:
    """Work in a process of its own that is killed at a statement; gives the signal that ended it, or 0."""

    def until_killed() -> None:
        with connection.execute_wrapper(kill_at(statement, is_before=is_before)):
            work()

    return ended_child(until_killed)


def kill_at_each_statement(work: Callable[[], None]) -> None:
    """Have the work done to its end, and write the number of kills. The caller has no connection yet."""
    kills = 0
    for statement in count(1):
        for is_before in (False, True):
            if child(work, statement, is_before=is_before) != signal.SIGKILL:
                sys.stdout.write(str(kills))
                return
            kills += 1
