"""Heartbeats of a worker and of the tasks that it keeps running, for config/heartbeats.py."""

import threading
from collections.abc import Callable
from typing import Any, Final

from celery import bootsteps, current_task, signals
from django.conf import settings

from config.heartbeats import EVERY_SECONDS, Heartbeat
from config.queues import TASKS

BROKER: Final = "its broker"
# The worker's name without its host. The pool's processes are forked from the worker, so they know it too.
_process = ""


@signals.celeryd_init.connect
def remember_name(sender: str, **_: Any) -> None:
    """Remember this worker's name, and record that it waits for its broker."""
    global _process
    _process = sender.partition("@")[0]
    _heartbeat_of(_process).wait_for(BROKER)


@signals.worker_shutdown.connect
def forget(**_: Any) -> None:
    """Remove the heartbeat files of a worker that ends in good order."""
    for loop in ("", *(task.name for task in TASKS if task.is_kept)):
        _heartbeat_of(_process, loop=loop).end()


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Records that the worker's own loop turns. Without a broker the loop rightly stands still."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **_: Any) -> None:
        self.timer: Any = None

    def start(self, consumer: Any) -> None:
        consumed = consumer.app.amqp.queues.consume_from
        kept = [task.name for task in TASKS if task.is_kept and task.queue.name in consumed]
        heartbeat = _heartbeat_of(_process, loops=kept)
        heartbeat.turn()
        self.timer = consumer.timer.call_repeatedly(EVERY_SECONDS, heartbeat.turn)

    def stop(self, consumer: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        _heartbeat_of(_process).wait_for(BROKER)


def turns_of_this_task() -> Callable[[], None]:
    """Return the function that a kept task calls at each turn of its loop. Calls from other threads do not count."""
    name = getattr(current_task, "name", "")  # empty if the task is called by hand
    if not (_process and name):
        return lambda: None
    heartbeat, thread = _heartbeat_of(_process, loop=name), threading.get_ident()

    def turn() -> None:
        if threading.get_ident() == thread:
            heartbeat.turn()

    return turn


def _heartbeat_of(process: str, *, loop: str = "", loops: list[str] | None = None) -> Heartbeat:
    return Heartbeat(settings.HEARTBEAT_DIRECTORY, process, loop=loop, loops=loops or ())
