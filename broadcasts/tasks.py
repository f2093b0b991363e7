"""Wake-ups of broadcasts."""

from celery import shared_task

from broadcasts.services.clicks import count_clicks as count_recorded_clicks
from config.celery.tasks import in_batches, one_at_a_time
from config.db import database_now

COUNTING_SECONDS = 30.0


@shared_task(name="broadcasts.count_clicks")
@one_at_a_time
def count_clicks() -> None:
    """Count the clicks on tracked links that were recorded."""
    in_batches(lambda: count_recorded_clicks(now=database_now()), seconds=COUNTING_SECONDS)
