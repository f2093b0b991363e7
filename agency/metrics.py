"""What is measured of e-mail. Rows are counted up to ten thousand."""

from django.db.models.functions import Now

from agency.models import Mail
from config.metrics import Gauge, capped_count, oldest_seconds

WAITING = Mail.objects.filter(sent_at=None, given_up_at=None)

METRICS = (
    Gauge(
        "mail_waiting",
        "E-mails to be sent, now or at their next attempt, counted up to 10,000.",
        read=lambda: capped_count(WAITING),
    ),
    Gauge(
        "mail_due_oldest_seconds",
        "For how long the longest due e-mail has waited for the worker.",
        read=lambda: oldest_seconds(WAITING.filter(next_attempt_at__lte=Now()), "next_attempt_at"),
    ),
    Gauge(
        "mail_retried",
        "E-mails whose last attempt failed and that will be tried again, counted up to 10,000.",
        read=lambda: capped_count(WAITING.filter(attempts__gt=0)),
    ),
)
