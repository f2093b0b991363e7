"""Celery tasks of broadcasts."""

from celery import shared_task
from django.db.models.functions import Now

from broadcasts.models import Click
from broadcasts.services.forecast import count_further, forget_forecasts, old_forecasts, unfinished_forecasts
from broadcasts.services.link_clicks import count_clicks as count_recorded_clicks
from broadcasts.services.progress import run_preparation
from config.celery.stopping import until_worker_ends
from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now

COUNTING_SECONDS = 30.0
PREPARING_SECONDS = 30.0
FORECAST_SECONDS = 20.0

due_work.add(
    DueWork("broadcasts.count_clicks", (lambda: Click.objects.order_by("id"),)),
    DueWork("broadcasts.count_audiences", (unfinished_forecasts, lambda: old_forecasts(Now()))),
)


# Each worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins,
# so that it is not delivered again if the process dies.
@shared_task(name="broadcasts.prepare", acks_late=False)
def prepare() -> None:
    """Begin, prepare and complete broadcasts until the worker ends or this run's time is over."""
    run_preparation(should_stop=until_worker_ends(longest_seconds=PREPARING_SECONDS))


@shared_task(name="broadcasts.count_clicks")
@one_at_a_time
def count_clicks() -> None:
    """Count the recorded clicks on tracked links."""
    in_batches(lambda: count_recorded_clicks(now=database_now()), seconds=COUNTING_SECONDS)


@shared_task(name="broadcasts.count_audiences")
@one_at_a_time
def count_audiences() -> None:
    """Count further the very large audiences that no request waits for, and delete old forecasts."""
    in_batches(count_further, seconds=FORECAST_SECONDS)
    forget_forecasts()
