"""What is forgotten: deliveries and attempts after 30 days."""

from datetime import datetime, timedelta

from django.db import transaction

from webhooks.models import Attempt, Delivery

KEPT = timedelta(days=30)
BATCH = 5_000


@transaction.atomic
def forget_deliveries(*, now: datetime) -> int:
    """Delete one batch of deliveries that ended more than 30 days ago, with their attempts; says how many."""
    old = list(
        Delivery.objects.select_for_update(skip_locked=True)
        .filter(stage=Delivery.Stage.DONE, completed_at__lt=now - KEPT)
        .order_by("completed_at")
        .values_list("id", flat=True)[:BATCH]
    )
    Attempt.objects.filter(delivery_id__in=old).delete()
    Delivery.objects.filter(id__in=old).delete()
    return len(old)
