"""Celery tasks of channel connect."""

from celery import shared_task
from django.db.models.functions import Now

from agency.actors import SYSTEM
from channelconnect.inbox.reading import run_reader
from channelconnect.sending.loop import LAST_CALLS_SECONDS, run_sender
from channelconnect.sending.loop import RUN_SECONDS as SENDER_SECONDS
from channelconnect.services.accounts import check_next_access, due_access_checks
from channelconnect.services.business_app import due_app_requests, request_next_app_data
from channelconnect.services.fetching import due_fetches, fetch_next
from channelconnect.services.sessions.ending import expire_sessions as expire_due_sessions
from channelconnect.services.sessions.ending import expired_sessions
from channelconnect.services.settings import RULES
from channelconnect.services.subscriptions import due_unsubscriptions, unsubscribe_next
from channelconnect.services.templates import due_syncs, sync_next
from config.celery.stopping import until_worker_ends
from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time
from config.db import database_now
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget

RUN_SECONDS = 30.0

due_work.add(
    DueWork("channelconnect.expire_sessions", (lambda: expired_sessions(Now()),)),
    DueWork("channelconnect.unsubscribe", (lambda: due_unsubscriptions(Now()),)),
    DueWork("channelconnect.check_access", (lambda: due_access_checks(Now()),)),
    DueWork("channelconnect.request_app_data", (lambda: due_app_requests(Now()),)),
    DueWork("channelconnect.fetch_media", (lambda: due_fetches(Now()),)),
    DueWork("channelconnect.sync_templates", (lambda: due_syncs(Now()),)),
)


# A worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins, so
# that it is not delivered again if the process dies.
@shared_task(name="channelconnect.send", acks_late=False)
def send() -> None:
    """Send due messages until the worker ends or the sender has worked for an hour."""
    should_stop = until_worker_ends(longest_seconds=SENDER_SECONDS + 10 * LAST_CALLS_SECONDS)
    if not should_stop():
        run_sender(should_stop=should_stop)


@shared_task(name="channelconnect.expire_sessions")
@one_at_a_time
def expire_sessions() -> None:
    """End every session whose 30 minutes are over."""
    in_batches(lambda: expire_due_sessions(now=database_now(), by=SYSTEM), seconds=RUN_SECONDS)


# Each worker of its queue keeps one running (config/celery/worker.py). The message is acknowledged as the run begins,
# so that it is not delivered again if the process dies.
@shared_task(name="channelconnect.read_notices", acks_late=False)
def read_notices() -> None:
    """Read providers' callbacks, including new ones, until the worker ends or this run's time is over."""
    run_reader(should_stop=until_worker_ends(longest_seconds=RUN_SECONDS))


@shared_task(name="channelconnect.unsubscribe")
@one_at_a_time
def unsubscribe() -> None:
    """End subscriptions at providers that no channel uses."""
    in_batches(lambda: unsubscribe_next(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="channelconnect.check_access")
@one_at_a_time
def check_access() -> None:
    """Ask providers whether doubted tokens are still good."""
    in_batches(lambda: check_next_access(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="channelconnect.request_app_data")
@one_at_a_time
def request_app_data() -> None:
    """Request contacts and chat histories of numbers that stay in the WhatsApp Business app."""
    in_batches(lambda: request_next_app_data(now=database_now()), seconds=RUN_SECONDS)


@shared_task(name="channelconnect.fetch_media")
@one_at_a_time
def fetch_media() -> None:
    """Fetch files of received messages."""
    in_batches(lambda: fetch_next(now=database_now()), seconds=RUN_SECONDS / 2)


@shared_task(name="channelconnect.sync_templates")
@one_at_a_time
def sync_templates() -> None:
    """List the message templates that are due, at their providers."""
    in_batches(lambda: sync_next(now=database_now()), seconds=RUN_SECONDS / 2)


@shared_task(name="channelconnect.forget_notices")
@one_at_a_time
def forget_notices() -> None:
    """Delete old callbacks and ended sessions in batches."""
    in_batches(lambda: forget(RULES), seconds=HOUSEKEEPING_SECONDS)
