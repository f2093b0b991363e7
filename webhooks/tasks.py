"""Wake-ups of the webhooks app."""

import multiprocessing
import os
import time
from typing import Any

from celery import shared_task, signals

from config.celery.tasks import in_batches, one_at_a_time
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from webhooks.dispatcher.loop import RUN_SECONDS, run_dispatcher
from webhooks.services.partitions import make_partitions_ahead
from webhooks.services.retention import RULES

# A dispatcher that always has something leased ends in order long before its hard limit.
LONGEST_SECONDS = RUN_SECONDS + 600.0
# Made before the pool's children are forked, so that they see the worker's warm shutdown.
_stopping = multiprocessing.get_context("fork").Event()


@signals.worker_shutting_down.connect
def stop(**_: Any) -> None:
    _stopping.set()


# A worker of its queue keeps one running (config/celery/worker.py). The call is settled when it begins: nobody is to
# bring it again when its process dies.
@shared_task(name="webhooks.deliver", acks_late=False)
def deliver() -> None:
    """Send whatever is due, until the worker ends or nothing is left to do after an hour."""
    worker, until = os.getppid(), time.monotonic() + LONGEST_SECONDS

    def should_stop() -> bool:
        # A worker that was killed leaves its child behind, which nobody would stop.
        return _stopping.is_set() or os.getppid() != worker or time.monotonic() > until

    if not should_stop():
        run_dispatcher(should_stop=should_stop)


@shared_task(name="webhooks.forget_deliveries")
@one_at_a_time
def forget_deliveries() -> None:
    """Make the days of deliveries that are to come, and forget what is old enough."""
    make_partitions_ahead()
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
