"""Metrics of events and deliveries. Rows are counted up to ten thousand."""

from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from agency.models import Event
from config.leases.runs import LEASE_SECONDS
from config.metrics import MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from webhooks.models import DispatcherRun, QueuedDelivery

NEW_EVENTS = Event.objects.filter(fanned_out_at=None)
DUE = QueuedDelivery.objects.filter(is_ready=True, run=None)
# No index orders all of them by time.
SOME_DUE = QueuedDelivery.objects.filter(pk__in=DUE.values("pk")[:MOST_COUNTED])

METRICS = (
    Gauge(
        "events_waiting",
        "Events of which no deliveries were made yet, counted up to 10,000.",
        read=lambda: capped_count(NEW_EVENTS),
    ),
    Gauge(
        "events_waiting_oldest_seconds",
        "Age of the oldest event of which no deliveries were made yet.",
        read=lambda: oldest_seconds(NEW_EVENTS, "occurred_at", order_by=F("position") + 0),
    ),
    Gauge(
        "deliveries_due",
        "Deliveries that are due and that no dispatcher has taken, counted up to 10,000.",
        read=lambda: capped_count(DUE),
    ),
    Gauge(
        "deliveries_due_oldest_seconds",
        "For how long the longest due among the first 10,000 deliveries has waited for a dispatcher.",
        read=lambda: oldest_seconds(SOME_DUE, "due_at"),
    ),
    Gauge(
        "dispatcher_runs_alive",
        "Runs of dispatchers that were seen within the last 20 seconds.",
        read=lambda: capped_count(DispatcherRun.objects.filter(seen_at__gt=Now() - timedelta(seconds=LEASE_SECONDS))),
    ),
    Counter("webhook_attempts_total", "Attempts that dispatchers have made, by their outcome.", label="outcome"),
    Histogram("dispatcher_claim_seconds", "How long the statement takes that leases a batch of deliveries."),
    Histogram("dispatcher_fan_out_seconds", "How long the statement takes that makes deliveries of new events."),
    Histogram("dispatcher_record_seconds", "How long the statement takes that writes a batch of attempts down."),
)
