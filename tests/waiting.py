"""Waits for facts that a test can see, with a limit that even a busy machine keeps."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from django.db import connection

Found = TypeVar("Found")
PATIENCE_SECONDS = 60.0
SHARE_OF_THE_WAIT, MOST_SECONDS_BETWEEN_LOOKS = 0.05, 0.25

# Statements of other sessions in this database that wait for a lock. The server also has databases of other tests.
WAITING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event LIKE %s
"""


def until(
    look: Callable[[], Found | None], seconds: float = PATIENCE_SECONDS, *, what: str = "it", every: float = 0.01
) -> Found:
    """Call `look` until it finds something, and give that; `what` names it in the failure message.

    The longer it has waited, the more rarely it looks, because each look takes processor time from what it waits for.
    """
    began = time.monotonic()
    while not (found := look()):
        waited = time.monotonic() - began
        assert waited < seconds, f"waited in vain for {what}"
        time.sleep(max(every, min(waited * SHARE_OF_THE_WAIT, MOST_SECONDS_BETWEEN_LOOKS)))
    return found


def in_time(work: Callable[[], Found]) -> Found:
    """Give the result of work, or raise its exception; fail if it has not ended after a minute."""
    done: Future[Found] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as fault:  # noqa: BLE001  # the test gets it
            done.set_exception(fault)

    threading.Thread(target=run, daemon=True).start()
    return done.result(PATIENCE_SECONDS)


def wait_for_lock(kind: str = "%", *, number: int = 1) -> list[int]:
    """Wait until `number` statements of other sessions wait for a lock; give the process ids of these sessions.

    `kind` is PostgreSQL's name: `transactionid` for a row, `relation` for a table, `advisory`.
    """

    def look() -> list[int] | None:
        found = waiting_for_locks(kind)
        return found if len(found) >= number else None

    return until(look, what=f"{number} statements that wait for a lock")


def waiting_for_locks(kind: str = "%") -> list[int]:
    """Give the process ids of the sessions whose statements now wait for a lock of this kind."""
    with connection.cursor() as cursor:
        # Otherwise a transaction keeps the list of sessions that it read first.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(WAITING, [kind])
        return [int(pid) for (pid,) in cursor.fetchall()]
