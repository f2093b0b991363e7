"""Tasks that every worker of their queue keeps running, without beat, broker or clocks."""

import uuid
from typing import Any

from celery import bootsteps
from celery.worker.state import reserved_requests
from kombu.message import Message
from kombu.serialization import dumps

from config.queues import TASKS

LOOK_SECONDS = 0.5


class KeptTasks(bootsteps.StartStopStep):
    """Looks twice a second whether each kept task runs in this worker, and starts it if not.

    So a task starts when the worker is ready, when its last run has ended, and when its process was killed.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **_: Any) -> None:
        self.timer: Any = None

    def start(self, consumer: Any) -> None:
        consumed = consumer.app.amqp.queues.consume_from
        names = [task.name for task in TASKS if task.is_kept and task.queue.name in consumed]
        if names:
            self.timer = consumer.timer.call_repeatedly(LOOK_SECONDS, begin_missing, (consumer, names))

    def stop(self, consumer: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def begin_missing(consumer: Any, names: list[str]) -> None:
    """Start each of these tasks that does not run in this worker."""
    for name in names:
        if not any(request.name == name and is_alive(consumer, request) for request in tuple(reserved_requests)):
            begin(consumer, name)


def is_alive(consumer: Any, request: Any) -> bool:
    """Return whether a task has a process of the pool or waits for one. Celery notices a dead one ten seconds late."""
    processes = consumer.pool.info.get("processes")
    return request.worker_pid is None or processes is None or request.worker_pid in processes


def begin(consumer: Any, name: str) -> None:
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


def _settled(*_: Any) -> None:
    """Do nothing: no broker waits for an acknowledgement."""
