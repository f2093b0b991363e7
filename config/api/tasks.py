"""The task that beat sends for this app."""

from celery import shared_task

from config.api.idempotency import RULES
from config.celery.tasks import in_batches, one_at_a_time
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget


@shared_task(name="api.forget_idempotency_records")
@one_at_a_time
def forget_idempotency_records() -> None:
    """Delete idempotency records whose time is over, batch by batch."""
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
