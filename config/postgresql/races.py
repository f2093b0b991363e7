"""Transactions that PostgreSQL ended because another one was first: a repetition may pass, so they are tried again.

All that works by itself does its transactions through `tried_again`: the threads of worker runs, tasks, the reader of
the inbox. The caller of a request is told to send it once more instead, as only they know what it was part of.
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
    """Give PostgreSQL's five characters for a fault of the driver's or of Django's over it, or nothing."""
    cause = fault if isinstance(fault, psycopg.Error) else fault.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""


def tried_again(work: Callable[[], Result], *, times: int = TIMES, states: Collection[str] = LOST) -> Result:
    """Do work whose transactions are all its own, again where one was ended so, and give what it gives.

    Those that were committed before are there, so it must be work that may be done twice. Within somebody else's
    transaction it is not repeated: that is over, too.
    """
    for _ in range(times - 1):
        try:
            return work()
        except (Error, psycopg.Error) as fault:
            if sqlstate(fault) not in states or connection.in_atomic_block:
                raise
            time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))  # noqa: S311  # no secret
    return work()
