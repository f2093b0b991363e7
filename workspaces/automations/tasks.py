"""Celery tasks of automations."""

from celery import shared_task

from config.celery.tasks import in_batches, one_at_a_time
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from workspaces.automations.services.removal import RETENTION_RULES


@shared_task(name="automations.forget_runs")
@one_at_a_time
def forget_runs() -> None:
    """Delete old runs, events, counts and queue rows, in batches."""
    in_batches(lambda: forget(RETENTION_RULES), seconds=HOUSEKEEPING_SECONDS)
