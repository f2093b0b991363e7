"""Wake-ups of the agency app."""

from celery import shared_task

from agency.services import send_next_mail
from agency.services.retention import RULES
from config.celery.tasks import in_batches, one_at_a_time
from config.queues import HOUSEKEEPING_SECONDS
from config.retention.rules import forget

# With the last e-mail's own limit this stays below that of the queue.
RUN_SECONDS = 45.0


@shared_task(name="agency.send_mail")
@one_at_a_time
def send_mail() -> None:
    """Send every e-mail that is due."""
    in_batches(send_next_mail, seconds=RUN_SECONDS)


@shared_task(name="agency.forget_records")
@one_at_a_time
def forget_records() -> None:
    """Forget events, activity, e-mails and sign-ins that are old enough, batch by batch."""
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
