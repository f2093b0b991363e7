"""Celery tasks of conversations."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from workspaces.conversations.services import wake_snoozed_conversations
from workspaces.conversations.services.changing import conversations_to_wake
from workspaces.conversations.services.inbound import apply_out_of_order_changes
from workspaces.conversations.services.removal import RETENTION_RULES

RUN_SECONDS = 45.0

due_work.add(DueWork("conversations.wake_snoozed", (lambda: conversations_to_wake(Now()),)))


@shared_task(name="conversations.wake_snoozed")
@one_at_a_time
def wake_snoozed() -> None:
    """End the snooze of conversations whose time has come."""
    in_batches(lambda: wake_snoozed_conversations(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="conversations.apply_parked_changes")
@one_at_a_time
def apply_parked_changes() -> None:
    """Apply changes that came before the network's ids of our messages were known."""
    in_batches(lambda: apply_out_of_order_changes(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="conversations.forget_messages")
@one_at_a_time
def forget_messages() -> None:
    """Delete old messages and notes in batches."""
    in_batches(lambda: forget(RETENTION_RULES), seconds=HOUSEKEEPING_SECONDS)
