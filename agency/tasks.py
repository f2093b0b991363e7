"""Celery tasks of the agency app."""

from functools import partial

from celery import shared_task
from django.db.models.functions import Now

from agency.models import BulkOperation, Export
from agency.models.notifications import DeliveryMethod
from agency.services import send_due_mails
from agency.services.domains import check_due_domains, due_domains
from agency.services.hourly_counts import hourly_counters, run_hourly_counter
from agency.services.jobs import due_jobs
from agency.services.jobs import run_jobs as run_waiting_jobs
from agency.services.mail.content import waiting_sign_ups
from agency.services.mail.queue import IS_ANY_DUE
from agency.services.notifications.delivery import (
    events_to_notify_of,
    fan_out_next_event,
    mail_next_at_once,
    mail_next_digest,
    notifications_to_mail,
)
from agency.services.notifications.push_queue import due_pushes
from agency.services.notifications.pushing import send_due_pushes
from agency.services.notifications.recording import run_check, state_checks
from agency.services.passwords import waiting_password_resets
from agency.services.retention import RULES
from config.celery.tasks import DueWork, due_work, in_batches, one_at_a_time, run_each
from config.queues import HOUSEKEEPING_SECONDS
from config.retention import forget
from config.tries.counting import RULES as BEGUN_WORK_RULES

# Together with the last conversations' own limits this stays below the queue's limit.
RUN_SECONDS = 45.0
DOMAIN_SECONDS = 30.0
JOB_SECONDS = 20.0
NOTIFICATION_SECONDS = 10.0
PUSH_SECONDS = 20.0
CHECK_SECONDS = 5.0
COUNT_SECONDS = 45.0

due_work.add(
    DueWork("agency.send_mail", (waiting_password_resets, waiting_sign_ups, IS_ANY_DUE)),
    DueWork("agency.run_jobs", (lambda: due_jobs(BulkOperation), lambda: due_jobs(Export))),
    DueWork(
        "agency.tell_people",
        (
            events_to_notify_of,
            lambda: notifications_to_mail(DeliveryMethod.AT_ONCE, Now()),
            lambda: notifications_to_mail(DeliveryMethod.DIGEST, Now()),
        ),
    ),
    DueWork("agency.send_pushes", (lambda: due_pushes(Now()),)),
    DueWork("agency.check_domains", (lambda: due_domains(Now()),)),
)


@shared_task(name="agency.send_mail")
@one_at_a_time
def send_mail() -> None:
    """Send every e-mail that is due."""
    send_due_mails(seconds=RUN_SECONDS)


@shared_task(name="agency.run_jobs")
@one_at_a_time
def run_jobs() -> None:
    """Work on bulk changes and exports, agencies in turn."""
    run_waiting_jobs(seconds=JOB_SECONDS)


@shared_task(name="agency.tell_people")
@one_at_a_time
def tell_people() -> None:
    """Write people's notifications, and queue the e-mails about them that are due."""
    for work in (fan_out_next_event, mail_next_at_once, mail_next_digest):
        in_batches(work, seconds=NOTIFICATION_SECONDS)


@shared_task(name="agency.send_pushes")
@one_at_a_time
def send_pushes() -> None:
    """Send the alerts on people's devices that are due."""
    send_due_pushes(seconds=PUSH_SECONDS)


@shared_task(name="agency.check_states")
@one_at_a_time
def check_lasting_states() -> None:
    """Find the lasting states that have begun or ended and of which people are notified."""
    run_each(state_checks, lambda one: in_batches(partial(run_check, one), seconds=CHECK_SECONDS), kind="state check")


@shared_task(name="agency.check_domains")
@one_at_a_time
def check_domains() -> None:
    """Check the due domains in the DNS."""
    in_batches(check_due_domains, seconds=DOMAIN_SECONDS)


@shared_task(name="agency.count_hours")
@one_at_a_time
def count_hours() -> None:
    """Count what happened in the hours that have ended."""
    run_each(
        hourly_counters,
        lambda one: in_batches(partial(run_hourly_counter, one), seconds=COUNT_SECONDS),
        kind="hourly counter",
    )


@shared_task(name="agency.forget_records")
@one_at_a_time
def forget_records() -> None:
    """Delete events, activity, e-mails, jobs, sign-ins and begun work that are old enough, batch by batch."""
    in_batches(lambda: forget((*RULES, *BEGUN_WORK_RULES)), seconds=HOUSEKEEPING_SECONDS)
