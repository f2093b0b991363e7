"""Where a worker and the tasks that it keeps running say that their loops turn, for config/heartbeats.py."""

import threading
from collections.abc import Callable
from typing import Any, Final

from celery import bootsteps, current_task, signals
from django.conf import settings

from config.heartbeats import EVERY_SECONDS, Heartbeat
from config.queues import TASKS

BROKER: Final = "its broker"
# The process's name, without its host. The pool's processes are forked from it and know it, too.
_process = ""


@signals.celeryd_init.connect
def remember_name(sender: str, **_: Any) -> None:
    """Know this worker's name, and that it stands still until it has reached its broker."""
    global _process
    _process = sender.partition("@")[0]
    _heartbeat_of(_process).wait_for(BROKER)


@signals.worker_shutdown.connect
def forget(**_: Any) -> None:
    """A worker that ends in good order leaves nothing behind."""
    for loop in ("", *(task.name for task in TASKS if task.is_kept)):
        _heartbeat_of(_process, loop=loop).end()


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Says that the worker's own loop turns; without a broker it does not, and need not."""

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
    """Give what a kept task says at each turn of its loop; other threads of it do not count."""
    name = getattr(current_task, "name", "")  # nobody's task where it is called by hand
    if not (_process and name):
        return lambda: None
    heartbeat, thread = _heartbeat_of(_process, loop=name), threading.get_ident()

    def turn() -> None:
        if threading.get_ident() == thread:
            heartbeat.turn()

    return turn


def _heartbeat_of(process: str, *, loop: str = "", loops: list[str] | None = None) -> Heartbeat:
    return Heartbeat(settings.HEARTBEAT_DIRECTORY, process, loop=loop, loops=loops or ())
