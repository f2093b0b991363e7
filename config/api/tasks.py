"""What beat asks for."""

from celery import shared_task

from config.api.idempotency import RULES
from config.retention import forget


@shared_task(name="api.forget_idempotency_records")
def forget_idempotency_records() -> None:
    """Forget the answers of more than a day ago; what is too much for one run comes next."""
    if forget(RULES):
        forget_idempotency_records.delay()
