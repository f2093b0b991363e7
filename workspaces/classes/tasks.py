"""The task that completes classes."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from workspaces.classes.services import complete_ended_classes
from workspaces.classes.services.sessions import ended_classes

RUN_SECONDS = 45.0

due_work.add(DueWork("classes.complete_ended", (lambda: ended_classes(Now()),)))


@shared_task(name="classes.complete_ended")
@one_at_a_time
def complete_ended() -> None:
    """Complete every class whose end has passed."""
    in_batches(lambda: complete_ended_classes(now=database_now()), seconds=RUN_SECONDS)
