"""What is measured of provider callbacks and unsubscriptions. Rows are counted up to ten thousand."""

from channelconnect.models import ProviderNotice, Unsubscription
from channelconnect.models.unsubscriptions import OPEN
from channelconnect.services.inbox import MOST_TRIES
from config.metrics import Gauge, capped_count, oldest_seconds

UNREAD = ProviderNotice.objects.filter(read_at=None)
WAITING = UNREAD.filter(tries__lt=MOST_TRIES)

METRICS = (
    Gauge(
        "callbacks_waiting",
        "Provider callbacks that were not read yet, counted up to 10,000.",
        read=lambda: capped_count(WAITING),
    ),
    Gauge(
        "callbacks_waiting_oldest_seconds",
        "Age of the oldest provider callback that was not read yet.",
        read=lambda: oldest_seconds(WAITING, "received_at", order_by="id"),
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
