"""Works on due automations, killed at each of its statements: for `tests.processes.preloaded`.

With `careless` a batch has no transaction of its own, which must not go unnoticed.
"""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from signal import SIGKILL
from types import SimpleNamespace
from typing import Any, Final

from django.db import connection

from config.postgresql.concurrency import AdvisoryLock
from config.tries.models import BegunWork
from tests.processes.killed_at_statements import child, ended_child, moments
from tests.waiting import until
from workspaces.automations.engine import loop
from workspaces.automations.engine.internal_calls import make_left_calls


def be_careless() -> None:
    """Commit each statement of a batch by itself."""
    engine: Any = loop
    engine.transaction = SimpleNamespace(atomic=lambda **_: nullcontext())


HELD: Final = """
SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def is_nobody_at_work() -> bool:
    """Return whether no session is in a batch, not even that of a process that was killed a moment ago."""
    with connection.cursor() as cursor:
        cursor.execute(HELD, [AdvisoryLock.AUTOMATION_BATCH.value])
        return cursor.fetchone() is None


def forget() -> None:
    """Count tries from the beginning: this many kills in a row would otherwise be given up.

    First PostgreSQL must have noticed the last death. Until then the dead process holds its contacts.
    """
    until(is_nobody_at_work, what="the end of the killed process's session")
    BegunWork.objects.all().delete()


def run_with_calls() -> None:
    """Work until nothing is due, and make the calls that a killed process has left behind."""
    loop.run_due()
    while make_left_calls():
        loop.run_due()


# Statements of a booking, each with its number among those that have this text. The second fact is the call's result.
BOOKING: Final = (
    ('INSERT INTO "appointments_appointment"', 1),
    ("INSERT INTO automations_triggerevent", 1),
    ("INSERT INTO automations_triggerevent", 2),
    ('DELETE FROM "automations_internalcall"', 1),
    ("UPDATE automations_automationrun run", 1),
)


def kill_at_text(text: str, number: int) -> Callable[..., Any]:
    """Give a wrapper of statements that kills this process before the statement of this number with this text."""
    found = count(1)

    def run(execute: Callable[..., Any], sql: Any, *arguments: Any) -> Any:
        if text in str(sql) and next(found) == number:
            os.kill(os.getpid(), SIGKILL)
        return execute(sql, *arguments)

    return run


def work_on_calls() -> None:
    """Work in processes that are killed while they book, and then in one that comes to the end."""
    kills = 0
    for text, number in BOOKING:
        ended_child(forget)

        def work(text: str = text, number: int = number) -> None:
            with connection.execute_wrapper(kill_at_text(text, number)):
                run_with_calls()

        kills += ended_child(work) == SIGKILL
    ended_child(forget)
    ended_child(run_with_calls)
    sys.stdout.write(str(kills))


def main(how: str) -> None:
    if how == "calls":
        work_on_calls()
        return
    if how == "careless":
        be_careless()
    for kills, moment in enumerate(moments()):
        ended_child(forget)
        if child(loop.run_due, moment) != SIGKILL:  # type: ignore[arg-type]  # what it gives is not needed
            sys.stdout.write(str(kills))
            return
