"""Metrics of provider callbacks, unsubscriptions and messages. Rows are counted up to ten thousand."""

from datetime import timedelta

from django.db.models.functions import Now

from channelconnect.models import ProviderNotice, SenderRun, Unsubscription
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.models.unsubscriptions import OPEN
from config.leases.runs import LEASE_SECONDS
from config.metrics import MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from workspaces.conversations.models import QueuedMessage

# Each of these is counted by its index.
UNREAD = ProviderNotice.objects.filter(read_at=None)
NEW = UNREAD.filter(tries=0)
TO_READ_AGAIN = UNREAD.filter(tries__gt=0, tries__lt=MOST_TRIES)
MESSAGES_DUE = QueuedMessage.objects.filter(is_ready=True)
# No index has all of them in the order of time.
SOME_MESSAGES_DUE = QueuedMessage.objects.filter(pk__in=MESSAGES_DUE.values("pk")[:MOST_COUNTED])

METRICS = (
    Counter("callback_facts_total", "Facts that provider callbacks have told, by their types.", label="type"),
    Gauge(
        "callbacks_waiting",
        "Provider callbacks that were not read yet, counted up to 10,000.",
        read=lambda: min(MOST_COUNTED, capped_count(NEW) + capped_count(TO_READ_AGAIN)),
    ),
    Gauge(
        "callbacks_waiting_oldest_seconds",
        "Age of the oldest provider callback that was not read yet.",
        read=lambda: max(
            oldest_seconds(NEW, "received_at", order_by="id"),
            oldest_seconds(TO_READ_AGAIN, "received_at", order_by="tries"),
        ),
    ),
    Gauge(
        "callbacks_given_up",
        "Provider callbacks that broke their reader five times, counted up to 10,000.",
        read=lambda: capped_count(UNREAD.filter(tries__gte=MOST_TRIES)),
    ),
    Gauge(
        "unsubscriptions_retried",
        "Subscriptions that a provider did not take back at the first try, counted up to 10,000.",
        read=lambda: capped_count(Unsubscription.objects.filter(status__in=OPEN, tries__gt=0)),
    ),
    Gauge(
        "messages_due",
        "Messages that are due and that no sender has taken, counted up to 10,000.",
        read=lambda: capped_count(MESSAGES_DUE),
    ),
    Gauge(
        "messages_due_oldest_seconds",
        "For how long the longest due among the first 10,000 messages has waited for a sender.",
        read=lambda: oldest_seconds(SOME_MESSAGES_DUE, "due_at"),
    ),
    Gauge(
        "messages_unknown",
        "Messages of which it is not known whether the provider has sent them, counted up to 10,000.",
        read=lambda: capped_count(QueuedMessage.objects.filter(is_ready=False, is_unknown=True)),
    ),
    Gauge(
        "sender_runs_alive",
        "Runs of senders that were seen within the last 20 seconds.",
        read=lambda: capped_count(SenderRun.objects.filter(seen_at__gt=Now() - timedelta(seconds=LEASE_SECONDS))),
    ),
    Counter("messages_sent_total", "Calls that senders have made for messages, by what followed.", label="result"),
    Counter("sender_brakes_total", "Stops that the provider has asked for, by whom they hold for.", label="scope"),
    Histogram("sender_claim_seconds", "How long the statements take that claim a batch of messages."),
    Histogram("sender_record_seconds", "How long the statements take that record a batch of results."),
)
