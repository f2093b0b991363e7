"""The tasks that complete classes, make those of series, and fill seats that were left free."""

from celery import shared_task
from django.db.models.functions import Now

from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from workspaces.classes.services import complete_ended_classes
from workspaces.classes.services.series_making import due_series, make_next_classes
from workspaces.classes.services.sessions import ended_classes
from workspaces.classes.services.waiting_lists import fill_left_seats

RUN_SECONDS = 45.0

due_work.add(
    DueWork("classes.complete_ended", (lambda: ended_classes(Now()),)),
    DueWork("classes.make_series", (lambda: due_series(Now()),)),
)


@shared_task(name="classes.complete_ended")
@one_at_a_time
def complete_ended() -> None:
    """Complete every class whose end has passed."""
    in_batches(lambda: complete_ended_classes(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="classes.make_series")
@one_at_a_time
def make_series() -> None:
    """Make the coming classes of each series that is due."""
    in_batches(lambda: make_next_classes(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="classes.fill_seats")
@one_at_a_time
def fill_seats() -> None:
    """Give seats that were left free to the first contacts of waiting lists."""
    fill_left_seats(now=database_now())
