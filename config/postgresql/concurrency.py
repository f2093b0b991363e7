"""Repeats transactions that lost against another one, and numbers all advisory locks.

A repetition may pass. Code that works by itself runs its transactions through `retry_on_conflict`: threads of worker
runs, tasks, the inbox's reader. The caller of a request is told to send it once more instead, because only the caller
knows its purpose.
"""

import random
import time
from collections.abc import Callable, Collection
from enum import IntEnum, unique
from typing import Final, TypeVar

import psycopg
from django.db import Error, connection

# Uses of the same number would wait for each other or be confused.


@unique
class AdvisoryLock(IntEnum):
    """A lock, or the class of many locks that differ in a second number. Write `.value` into a statement."""

    INSTALLATION = 7_105_001  # the process that sets an installation up
    DISPATCHER_RUN = 7_105_002  # with a run's number: its process lives
    TASK = 7_105_003  # with a name's hash: a task that runs once at a time
    SENDER_RUN = 7_105_004  # with a run's number: its process lives
    DELIVERY_LOG_DAY = 7_105_005  # the process that makes partitions of the log of deliveries
    REPLAY = 7_105_006  # with an agency's id: two replays would both find what neither has queued yet
    AUDIENCE = 7_105_007  # with a contact's share: held to prepare a broadcast, and to change contacts
    AUDIENCE_CHUNK = 7_105_008  # with a chunk's hash: held to prepare the chunk
    CONTAINER = 7_105_009  # with a container's hash: the process that subscribes to it or takes that back
    CHANNEL_INBOX = 7_105_011  # with a channel's number: the reader that applies what came in
    ALLOWANCE_RELEASE = 7_105_021  # the sender that looks for room for recipients who wait
    TASKS = 7_105_025  # with a workspace's hash: held to add and assign tasks, and while a person leaves
    AUTOMATION_BATCH = 7_105_023  # with a worker's number: the process that works on its batch lives
    OUTSIDE_CALLS = 7_105_031  # the process that claims outside calls
    AUTOMATION_COUNTS = 7_105_033  # the engine that adds up what batches have counted
    TRY = 7_105_022  # with the hash of a kind and a key: the process that tries this work lives


Result = TypeVar("Result")
# serialization_failure, deadlock_detected.
RETRYABLE_SQLSTATES: Final = frozenset({"40001", "40P01"})
TIMES: Final = 5
LONGEST_PAUSE_SECONDS: Final = 0.05


def sqlstate(fault: BaseException) -> str:
    """Return the five characters of PostgreSQL's code for an error of psycopg or Django, or an empty string."""
    cause = fault if isinstance(fault, psycopg.Error) else fault.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""


def retry_on_conflict(
    work: Callable[[], Result], *, times: int = TIMES, states: Collection[str] = RETRYABLE_SQLSTATES
) -> Result:
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
