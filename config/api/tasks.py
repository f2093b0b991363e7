"""What beat asks for."""

from celery import shared_task

from config.api.idempotency import forget_old_records


@shared_task(name="api.forget_idempotency_records")
def forget_idempotency_records() -> None:
    forget_old_records()
