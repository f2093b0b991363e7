"""Repeats transactions that PostgreSQL ended because another one was first. A repetition may pass.

Code that works by itself runs its transactions through `tried_again`: threads of worker runs, tasks, the inbox's
reader. The caller of a request is told to send it once more instead, because only the caller knows its purpose.
"""

import random
import time
from collections.abc import Callable, Collection
from typing import Final, TypeVar

import psycopg
from django.db import Error, connection

Result = TypeVar("Result")
# serialization_failure, deadlock_detected.
LOST: Final = frozenset({"40001", "40P01"})
TIMES: Final = 5
LONGEST_PAUSE_SECONDS: Final = 0.05


def sqlstate(fault: BaseException) -> str:
    """Return the five characters of PostgreSQL's code for an error of psycopg or Django, or an empty string."""
    cause = fault if isinstance(fault, psycopg.Error) else fault.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""


def tried_again(work: Callable[[], Result], *, times: int = TIMES, states: Collection[str] = LOST) -> Result:
    """Call `work`, and call it again if one of its transactions was ended so. Returns its result.

    Its earlier transactions stay committed, so it must be safe to repeat. All transactions must be its own. Within an
    outer transaction it is not repeated, because that transaction has ended too.
    """
    for _ in range(times - 1):
        try:
            return work()
        except (Error, psycopg.Error) as fault:
            if sqlstate(fault) not in states or connection.in_atomic_block:
                raise
            time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))  # noqa: S311  # no secret
    return work()
