"""Celery tasks of automations."""

from celery import shared_task

from config.celery.stopping import until_worker_ends
from workspaces.automations.engine.loop import run_engine

RUN_SECONDS = 30.0


# Each worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins,
# so that it is not delivered again if the process dies.
@shared_task(name="automations.run", acks_late=False)
def run() -> None:
    """Work on due contacts until the worker ends or this run's time is over."""
    run_engine(should_stop=until_worker_ends(longest_seconds=RUN_SECONDS))
