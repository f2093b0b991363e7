"""When a task that its worker keeps running is to end."""

import multiprocessing
import os
import time
from collections.abc import Callable
from typing import Any

from celery import signals

from config.celery.heartbeats import turns_of_this_task

# Made before the pool's children are forked, so that they see the worker's warm shutdown.
stopping = multiprocessing.get_context("fork").Event()


@signals.worker_shutting_down.connect
def stop(**_: Any) -> None:
    stopping.set()


def until_worker_ends(*, longest_seconds: float) -> Callable[[], bool]:
    """Give what says that the task is to stop: its worker ends or was killed, or it has worked for too long.

    The task asks at each turn of its loop: so that is where its heartbeat comes from.
    """
    worker, until, turn = os.getppid(), time.monotonic() + longest_seconds, turns_of_this_task()

    def should_stop() -> bool:
        turn()
        # A worker that was killed leaves its child behind, which nobody would stop.
        return stopping.is_set() or os.getppid() != worker or time.monotonic() > until

    return should_stop


@signals.worker_process_shutdown.connect
def leave_at_once(exitcode: int, **_: Any) -> None:
    """End a process of the pool whose worker ends.

    The pool would have it sleep for a second first, for a message of its end that the worker reads no more.
    """
    if stopping.is_set():
        os._exit(exitcode)
