"""Metrics of Celery's queues: how many calls wait, and for how long the first call has."""

import time
from dataclasses import dataclass, field
from typing import Any

from config.celery import app
from config.metrics import Gauge
from config.queues import QUEUES

Looks = dict[str, tuple[Any, float]]


@dataclass
class QueueWatch:
    """Remembers since when each queue has had the same first call, by this process's monotonic clock.

    Some brokers do not show waiting calls, only how many there are. The time then counts from when the queue was last
    seen empty.
    """

    first: Looks = field(default_factory=dict)

    def waiting(self) -> dict[str, float]:
        """Return how many calls wait in each queue."""
        with app.connection_for_read() as broker, broker.channel() as channel:
            return {queue.name: float(length(channel, queue.name)) for queue in QUEUES}

    def oldest_seconds(self) -> dict[str, float]:
        """Return for how long each queue's first call has been seen waiting."""
        now = time.monotonic()
        with app.connection_for_read() as broker, broker.channel() as channel:
            for queue in QUEUES:
                self._look(queue.name, first_call(channel, queue.name), now)
        return {queue.name: now - self.first[queue.name][1] for queue in QUEUES}

    def _look(self, queue: str, call: Any, now: float) -> None:
        if call is None or self.first.get(queue, (None,))[0] != call:
            self.first[queue] = (call, now)


def length(channel: Any, queue: str) -> int:
    """Return how many calls wait; 0 in a queue that the broker does not know."""
    try:
        return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except channel.connection.client.channel_errors:
        return 0


def first_call(channel: Any, queue: str) -> Any:
    """Return a value that identifies the first waiting call; None for an empty queue."""
    client = getattr(channel, "client", None)
    if client is not None:
        return client.lindex(queue, -1)
    return "some" if length(channel, queue) else None


_watch = QueueWatch()
QUEUE_METRICS = (
    Gauge("celery_queue_waiting", "Calls that wait in a queue.", read=_watch.waiting, label="queue", source="broker"),
    Gauge(
        "celery_queue_oldest_seconds",
        "For how long the first call of a queue has been seen waiting.",
        read=_watch.oldest_seconds,
        label="queue",
        source="broker",
    ),
)
