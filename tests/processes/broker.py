"""The queues of this test run's broker."""

from typing import Any

from config.celery import app
from config.queues import QUEUES


def forget_calls() -> None:
    """Empty every queue of the product."""
    with app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        for queue in QUEUES:
            channel.queue_purge(queue.name)
