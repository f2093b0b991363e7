"""Celery tasks of webhooks."""

from celery import shared_task

from config.celery.stopping import until_worker_ends
from config.celery.tasks import in_batches, one_at_a_time
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from webhooks.dispatcher.loop import RUN_SECONDS, run_dispatcher
from webhooks.services.partitions import RULES, erase_previous_secrets, make_partitions_ahead

# After so long, a dispatcher that always has something leased stops in order, long before the task's hard limit.
LONGEST_SECONDS = RUN_SECONDS + 600.0


# Each worker of the queue keeps one running (config/celery/worker.py). The task is acknowledged when it begins, so that
# it is not delivered again if its process dies.
@shared_task(name="webhooks.deliver", acks_late=False)
def deliver() -> None:
    """Send due deliveries until the worker ends, or until nothing is left to do after an hour."""
    should_stop = until_worker_ends(longest_seconds=LONGEST_SECONDS)
    if not should_stop():
        run_dispatcher(should_stop=should_stop)


@shared_task(name="webhooks.forget_deliveries")
@one_at_a_time
def forget_deliveries() -> None:
    """Create the next days' partitions, drop old deliveries, and erase expired secrets."""
    make_partitions_ahead()
    in_batches(erase_previous_secrets, seconds=HOUSEKEEPING_SECONDS)
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
