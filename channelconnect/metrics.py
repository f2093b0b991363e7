"""What is measured of provider callbacks and unsubscriptions. Rows are counted up to ten thousand."""

from channelconnect.models import ProviderNotice, Unsubscription
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.models.unsubscriptions import OPEN
from config.metrics import Counter, Gauge, capped_count, oldest_seconds
from config.metrics.declarations import MOST_COUNTED

# Each of them is counted by its own index.
UNREAD = ProviderNotice.objects.filter(read_at=None)
NEW = UNREAD.filter(tries=0)
TO_READ_AGAIN = UNREAD.filter(tries__gt=0, tries__lt=MOST_TRIES)

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
)
