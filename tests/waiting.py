"""Waiting for facts: what has happened can be seen, and the limit is one that a busy machine keeps."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from django.db import connection

Found = TypeVar("Found")
PATIENCE_SECONDS = 60.0

# Statements of other sessions of this database that wait for a lock. The server has databases of other tests, too.
WAITING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event LIKE %s
"""


def until(
    look: Callable[[], Found | None], seconds: float = PATIENCE_SECONDS, *, what: str = "it", every: float = 0.01
) -> Found:
    """Look until there is something, and give it; `what` says in the failure what was waited for."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(every)
    return found


def in_time(work: Callable[[], Found]) -> Found:
    """Give what work that must not wait for ever gives, or raise what it raises; after a minute it has failed."""
    done: Future[Found] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as fault:  # noqa: BLE001  # the test is told
            done.set_exception(fault)

    threading.Thread(target=run, daemon=True).start()
    return done.result(PATIENCE_SECONDS)


def wait_for_lock(kind: str = "%", *, number: int = 1) -> list[int]:
    """Wait until so many statements of others wait for a lock; give the process ids of their sessions.

    `kind` is PostgreSQL's: `transactionid` for somebody's row, `relation` for a table, `advisory`.
    """

    def look() -> list[int] | None:
        found = waiting_for_locks(kind)
        return found if len(found) >= number else None

    return until(look, what=f"{number} statements that wait for a lock")


def waiting_for_locks(kind: str = "%") -> list[int]:
    """Give the process ids of the sessions whose statements wait for a lock of this kind now."""
    with connection.cursor() as cursor:
        # Within a transaction the list of sessions is otherwise the one that was read first.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(WAITING, [kind])
        return [int(pid) for (pid,) in cursor.fetchall()]
