"""Celery tasks of automations."""

from celery import shared_task

from config.celery.tasks import in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from workspaces.automations.services.contact_triggers import DateWalk


@shared_task(name="automations.find_dates")
@one_at_a_time
def find_dates() -> None:
    """Record the birthdays and the long silences of contacts with which automations start."""
    in_batches(DateWalk(database_now()).walk_page, seconds=HOUSEKEEPING_SECONDS)
