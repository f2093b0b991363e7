"""What is forgotten: deliveries, attempts and hourly counts after 30 days."""

from datetime import datetime, timedelta

from django.db import transaction

from webhooks.models import Attempt, Delivery, HourlyStats

KEPT = timedelta(days=30)
BATCH = 5_000


@transaction.atomic
def forget_deliveries(*, now: datetime) -> int:
    """Delete what ended more than 30 days ago among the oldest deliveries, with its attempts; says how many."""
    oldest = Delivery.objects.select_for_update(skip_locked=True).order_by("id")[:BATCH]
    ended = oldest.values_list("id", "completed_at")
    old = [pk for pk, completed_at in ended if completed_at is not None and completed_at < now - KEPT]
    Attempt.objects.filter(delivery_id__in=old)._raw_delete("default")
    Delivery.objects.filter(id__in=old)._raw_delete("default")
    return len(old)


def forget_hourly_stats(*, now: datetime) -> int:
    """Delete the counts of hours more than 30 days ago; says how many."""
    return HourlyStats.objects.filter(hour__lt=now - KEPT)._raw_delete("default")
