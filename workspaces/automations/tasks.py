"""Celery tasks of automations."""

from celery import shared_task

from config.celery.stopping import until_worker_ends
from workspaces.automations.dispatcher.loop import LONGEST_RUN_SECONDS, run_calls


# Each worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins,
# so that it is not delivered again if the process dies.
@shared_task(name="automations.call_outside", acks_late=False)
def call_outside() -> None:
    """Make the calls of other systems that runs wait for, until the worker ends or this run's time is over."""
    should_stop = until_worker_ends(longest_seconds=LONGEST_RUN_SECONDS)
    if not should_stop():
        run_calls(should_stop=should_stop)
