"""Tasks that every worker of their queue keeps running, without beat or broker, and the heartbeats of a worker."""

import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from celery import bootsteps, current_task, signals
from celery.worker.state import reserved_requests
from django.conf import settings
from kombu.message import Message
from kombu.serialization import dumps

from config.heartbeats import EVERY_SECONDS, Heartbeat
from config.queues import TASKS

if TYPE_CHECKING:
    from celery.worker.consumer import Consumer
    from celery.worker.request import Request

BROKER: Final = "its broker"
# The worker's name without its host. The pool's processes are forked from the worker, so they know it too.
_process = ""


@signals.celeryd_init.connect
def remember_name(sender: str, **_: object) -> None:
    """Remember this worker's name, and record that it waits for its broker."""
    global _process
    _process = sender.partition("@")[0]
    _heartbeat_of(_process).wait_for(BROKER)


@signals.worker_shutdown.connect
def forget(**_: object) -> None:
    """Remove the heartbeat files of a worker that ends in good order."""
    for loop in ("", *(task.name for task in TASKS if task.is_kept)):
        _heartbeat_of(_process, loop=loop).end()


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Records that the worker's own loop turns. Without a broker the loop rightly stands still."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: "Consumer", **_: object) -> None:
        self.timer: Any = None

    def start(self, consumer: "Consumer") -> None:
        consumed = consumer.app.amqp.queues.consume_from
        kept = [task.name for task in TASKS if task.is_kept and task.queue.name in consumed]
        heartbeat = _heartbeat_of(_process, loops=kept)
        heartbeat.turn()
        self.timer = consumer.timer.call_repeatedly(EVERY_SECONDS, heartbeat.turn)

    def stop(self, consumer: "Consumer") -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        _heartbeat_of(_process).wait_for(BROKER)


def task_heartbeat() -> Callable[[], None]:
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


LOOK_SECONDS = 0.5


class ResidentTasks(bootsteps.StartStopStep):
    """Looks twice a second whether each kept task runs in this worker, and starts it if not.

    So a task starts when the worker is ready, when its last run has ended, and when its process was killed.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: "Consumer", **_: object) -> None:
        self.timer: Any = None

    def start(self, consumer: "Consumer") -> None:
        consumed = consumer.app.amqp.queues.consume_from
        names = [task.name for task in TASKS if task.is_kept and task.queue.name in consumed]
        if names:
            self.timer = consumer.timer.call_repeatedly(LOOK_SECONDS, start_missing, (consumer, names))

    def stop(self, consumer: "Consumer") -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def start_missing(consumer: "Consumer", names: list[str]) -> None:
    """Start each of these tasks that does not run in this worker."""
    for name in names:
        if not any(request.name == name and is_alive(consumer, request) for request in tuple(reserved_requests)):
            start_task(consumer, name)


def is_alive(consumer: "Consumer", request: "Request") -> bool:
    """Return whether a task has a process of the pool or waits for one. Celery notices a dead one ten seconds late."""
    processes = consumer.pool.info.get("processes")
    return request.worker_pid is None or processes is None or request.worker_pid in processes


def start_task(consumer: Any, name: str) -> None:
    """Pass a call of the task to the pool as if the broker had brought it."""
    call = consumer.app.amqp.as_task_v2(str(uuid.uuid4()), name, args=(), kwargs={})
    content_type, content_encoding, body = dumps(call.body, serializer="json")
    message = Message(
        body=body,
        content_type=content_type,
        content_encoding=content_encoding,
        headers=call.headers,
        properties=call.properties,
        delivery_info={"routing_key": "", "exchange": ""},
        accept={content_type},
    )
    consumer.strategies[name](message, None, _settled, _settled, [])


def _settled(*_: object) -> None:
    """Do nothing: no broker waits for an acknowledgement."""
