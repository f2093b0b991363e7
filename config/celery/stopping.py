"""Says when a task that its worker keeps running must end."""

import multiprocessing
import os
import time
from collections.abc import Callable

from celery import signals

from config.celery.worker import task_heartbeat

# Made before the pool's processes are forked, so that they see the worker's warm shutdown.
stopping = multiprocessing.get_context("fork").Event()


@signals.worker_shutting_down.connect
def stop(**_: object) -> None:
    stopping.set()


def until_worker_ends(*, longest_seconds: float) -> Callable[[], bool]:
    """Return a function that says whether the task must stop.

    It must stop if its worker ends or was killed, or if it has worked for too long. The task calls the function at each
    turn of its loop, so the function also writes the task's heartbeat.
    """
    worker, until, turn = os.getppid(), time.monotonic() + longest_seconds, task_heartbeat()

    def should_stop() -> bool:
        turn()
        # A killed worker leaves its child behind, and nobody would stop that child.
        return stopping.is_set() or os.getppid() != worker or time.monotonic() > until

    return should_stop


@signals.worker_process_shutdown.connect
def leave_at_once(exitcode: int, **_: object) -> None:
    """End a process of the pool at once when its worker ends.

    The pool would first let it sleep for a second, for a message about its end that the worker no longer reads.
    """
    if stopping.is_set():
        os._exit(exitcode)
