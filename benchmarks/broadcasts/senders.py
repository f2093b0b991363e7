"""Runs senders in separate processes, which share the numbers as in an installation."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from benchmarks.processes import Broken, started
from broadcasts.models import Broadcast
from config.leases.runs import SHARDS

LOOK_SECONDS = 0.02
SHARED = """
SELECT count(DISTINCT run), count(*), max(shards.held) FROM channelconnect_sendershard
JOIN (SELECT run, count(*) AS held FROM channelconnect_sendershard GROUP BY run) AS shards USING (run)
"""
SENT = "SELECT coalesce(sum(sent), 0) FROM broadcasts_broadcastcount"


@contextmanager
def senders(number: int, provider: str) -> Iterator[list[int]]:
    """Run `number` senders; give their process ids once they share all numbers evenly."""
    environment = {**os.environ, "META_GRAPH_URL": provider}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started("benchmarks.broadcasts.sender_process", environment=environment))
            for _ in range(number)
        ]
        wait_until(lambda: _asked(SHARED) == (number, SHARDS, -(-SHARDS // number)), 30)
        yield [process.pid for process in processes]


def put_off() -> None:
    """Postpone everything until `make_due`."""
    Broadcast.objects.update(next_due_at=timezone.now() + timedelta(hours=1))


def make_due() -> None:
    Broadcast.objects.update(next_due_at=timezone.now())


def sent() -> int:
    """Give the number of messages that the broadcasts' counts have as sent."""
    return int(_asked(SENT)[0])


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for a condition. Raises `Broken` if it does not hold in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise Broken("The senders took too long.")
        time.sleep(LOOK_SECONDS)


def _asked(statement: str) -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return tuple(cursor.fetchone())
