"""Wake-ups of the conversations."""

from celery import shared_task

from config.celery.tasks import in_batches, one_at_a_time
from config.db import database_now
from workspaces.conversations.services import wake_snoozed_conversations

RUN_SECONDS = 45.0


@shared_task(name="conversations.wake_snoozed")
@one_at_a_time
def wake_snoozed() -> None:
    """Take up again every conversation whose time has come."""
    in_batches(lambda: wake_snoozed_conversations(now=database_now()), seconds=RUN_SECONDS)
