"""Wake-ups of broadcasts."""

from celery import shared_task

from broadcasts.services.clicks import count_clicks as count_recorded_clicks
from config.celery.tasks import in_batches, one_at_a_time

COUNTING_SECONDS = 30.0


@shared_task(name="broadcasts.count_clicks")
@one_at_a_time
def count_clicks() -> None:
    """Count the clicks on tracked links that were recorded."""
    in_batches(count_recorded_clicks, seconds=COUNTING_SECONDS)
