"""Metrics of e-mails and of jobs; rows are counted up to ten thousand."""

from django.db.models.functions import Now

from agency.models import BulkOperation, Export, Mail, MailSettings
from agency.models.jobs import ACTIVE
from agency.services.mail.queue import waiting_at_installation
from config.metrics import Gauge, capped_count, oldest_seconds

WAITING = Mail.objects.filter(sent_at=None, given_up_at=None)

JOBS = {"bulk": BulkOperation.objects.filter(state__in=ACTIVE), "export": Export.objects.filter(state__in=ACTIVE)}

METRICS = (
    Gauge(
        "jobs_active",
        "Bulk changes and exports that wait or run, counted up to 10,000.",
        read=lambda: {kind: capped_count(rows) for kind, rows in JOBS.items()},
        label="kind",
    ),
    Gauge(
        "jobs_oldest_seconds",
        "For how long the oldest bulk change or export that has not ended has been there.",
        read=lambda: {kind: oldest_seconds(rows, "created_at", order_by="id") for kind, rows in JOBS.items()},
        label="kind",
    ),
    Gauge(
        "mail_waiting",
        "E-mails to be sent, now or at their next attempt, counted up to 10,000.",
        read=lambda: capped_count(WAITING),
    ),
    Gauge(
        "mail_due_oldest_seconds",
        "For how long the longest due e-mail has waited for the worker, but for those that agencies' own servers take.",
        read=lambda: oldest_seconds(waiting_at_installation().filter(next_attempt_at__lte=Now()), "next_attempt_at"),
    ),
    Gauge(
        "mail_retried",
        "E-mails that the installation's server did not take and that will be tried again, counted up to 10,000.",
        read=lambda: capped_count(WAITING.filter(attempts__gt=0, by_own_server=False)),
    ),
    Gauge(
        "mail_own_servers_resting",
        "Agencies' own mail servers that failed several times in a row; the installation's stands in for them.",
        read=lambda: capped_count(MailSettings.objects.filter(resting_until__gt=Now())),
    ),
)
