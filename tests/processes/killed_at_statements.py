"""Work that is done by processes that are killed at its statements, before one is sent or after.

Every process goes on where the one before it was killed, until one comes to the end. The first is killed at its first
statement, the next one at its second, and so on.

In full size that is each statement, once before it is sent and once after. A kill undoes what is not committed, so that
what is left differs only where something was written between two kills: the small form is killed at statements that
write alone, before them and after them in turns.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from django.db import connection

from tests.sizes import size

READS = ("SELECT", "SAVEPOINT", "RELEASE", "ROLLBACK", "SET ")


class Moment(NamedTuple):
    """The statement, by its number, before or after which a process is killed; `writes` says that only those count."""

    statement: int
    is_before: bool
    writes: bool


def moments(*, first: int = 1) -> Iterator[Moment]:
    """Give the moments at which one process after the other is killed."""
    is_full = bool(size("kills", "every statement"))
    for statement in count(first):
        sides = (False, True) if is_full else (statement % 2 == 0,)
        for is_before in sides:
            yield Moment(statement, is_before, writes=not is_full)


def kill_at(moment: Moment) -> Callable[..., Any]:
    """Give a wrapper of statements that kills this process at that moment."""
    numbers = count(1)

    def run(execute: Callable[..., Any], sql: Any, *arguments: Any) -> Any:
        is_counted = not moment.writes or not str(sql).lstrip(" \n(").upper().startswith(READS)
        is_meant = is_counted and next(numbers) == moment.statement
        if is_meant and moment.is_before:
            os.kill(os.getpid(), signal.SIGKILL)
        done = execute(sql, *arguments)
        if is_meant:
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


def child(work: Callable[[], None], moment: Moment) -> int:
    """Work in a process of its own that is killed at a moment; gives the signal that ended it, or 0."""

    def until_killed() -> None:
        with connection.execute_wrapper(kill_at(moment)):
            work()

    return ended_child(until_killed)


def kill_at_each_statement(work: Callable[[], None]) -> None:
    """Have the work done to its end, and write the number of kills. The caller has no connection yet."""
    for kills, moment in enumerate(moments()):
        if child(work, moment) != signal.SIGKILL:
            sys.stdout.write(str(kills))
            return
