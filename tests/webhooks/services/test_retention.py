"""What is forgotten after thirty days, and what is not."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from tests.tenants import Tenant
from webhooks.models import Attempt, Delivery, HourlyStats, QueuedDelivery
from webhooks.services import forget_deliveries, forget_hourly_stats, retention
from webhooks.tasks import forget_deliveries as forget_task

pytestmark = pytest.mark.django_db


def a_delivery(tenant: Tenant, days_ago: float | None) -> Delivery:
    """A delivery that ended so many days ago, with its attempt; None for one that is still to be made."""
    ended = now() - timedelta(days=days_ago) if days_ago is not None else None
    fields: dict[str, Any] = {"status": "success", "completed_at": ended, "attempts": 1} if ended else {}
    delivery = Delivery.objects.create(
        agency=tenant.agency,
        endpoint=tenant.endpoint,
        event_name="workspace.created",
        envelope_id="7d4f3a0e-38a5-4a5b-9d0a-2f3c58a0b1c2",
        body=b"{}",
        created_at=now() - timedelta(days=days_ago or 40),
        **fields,
    )
    if ended:
        Attempt.objects.create(delivery=delivery, number=1, started_at=ended, duration_ms=1, url="http://receiver/")
    else:
        QueuedDelivery.objects.create(delivery=delivery, agency_id=1, endpoint_id=1, due_at=now())
    return delivery


def test_what_ended_more_than_thirty_days_ago_is_forgotten_with_its_attempts(a: Tenant) -> None:
    a_delivery(a, 31)
    kept = [a_delivery(a, 29.9), a_delivery(a, 0), a_delivery(a, None)]
    assert forget_deliveries(now=now()) == 1
    assert list(Delivery.objects.order_by("id")) == kept
    assert set(Attempt.objects.values_list("delivery_id", flat=True)) == {kept[0].pk, kept[1].pk}
    assert forget_deliveries(now=now()) == 0


def test_it_goes_batch_by_batch(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    for _ in range(7):
        a_delivery(a, 40)
    assert forget_deliveries(now=now()) == 3
    assert Delivery.objects.count() == 4
    forget_task()
    assert not Delivery.objects.exists()
    assert not Attempt.objects.exists()


def test_the_counts_of_old_hours_are_forgotten(a: Tenant) -> None:
    for days in (0, 29, 31, 90):
        HourlyStats.objects.create(endpoint=a.endpoint, hour=now() - timedelta(days=days), successes=1)
    assert forget_hourly_stats(now=now()) == 2
    assert HourlyStats.objects.count() == 2
