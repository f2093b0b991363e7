"""Work whose process is killed at a statement, each time that it comes there: for `tests.processes.preloaded`."""

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created
from django.db.models import F

from agency.models import Domain, Mail
from agency.services.domains import check_due_domains
from agency.services.jobs import run_jobs
from agency.services.mail.sending import send_next_mail
from agency.services.notifications.delivery import fan_out_next_event, mail_next_at_once, mail_next_digest
from agency.services.passwords import answer_address_requests
from agency.tasks import check_lasting_states
from broadcasts.models import Broadcast
from broadcasts.services.progress import PreparationLoop
from channelconnect.models import ChannelCredential, TemplateSync, Unsubscription
from channelconnect.services.accounts import check_next_access
from channelconnect.services.fetching import fetch_next
from channelconnect.services.subscriptions import unsubscribe_next
from channelconnect.services.templates import sync_next
from config.db import database_now
from config.tries.models import BegunWork
from tests.processes.killed_at_statements import ended_child
from workspaces.automations.engine.internal_calls import make_left_calls
from workspaces.automations.engine.loop import run_due
from workspaces.contacts.services.counting import recount_segments
from workspaces.contacts.services.file_imports import import_next_piece
from workspaces.conversations.models import MediaFetch
from workspaces.conversations.services.inbound import apply_out_of_order_changes
from workspaces.finance.models import Checkout, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.services.provider_work import take_turn

# Beyond that the work comes to no end by itself.
MOST_RUNS = 30


def fetch_media() -> None:
    MediaFetch.objects.filter(status="pending", tries__lt=MOST_RUNS).update(due_at=database_now())
    while fetch_next(now=database_now()):
        pass


def list_templates() -> None:
    TemplateSync.objects.filter(due_at__lte=database_now() + timedelta(hours=2)).update(due_at=database_now())
    while sync_next(now=database_now()):
        pass


def check_access() -> None:
    ChannelCredential.objects.exclude(access_check_due_at=None).update(access_check_due_at=database_now())
    check_next_access(now=database_now())


def send_mail() -> None:
    Mail.objects.filter(sent_at=None, given_up_at=None).update(next_attempt_at=database_now())
    while send_next_mail():
        pass


def look_up_addresses() -> None:
    answer_address_requests()


def notify() -> None:
    while fan_out_next_event():
        pass


def mail_at_once() -> None:
    while mail_next_at_once():
        pass


def mail_digest() -> None:
    while mail_next_digest():
        pass


def work_on_jobs() -> None:
    BegunWork.objects.update(begun_at=F("begun_at") - timedelta(hours=1))
    run_jobs(seconds=20)


def import_contacts() -> None:
    while import_next_piece(now=database_now()):
        pass


def check_domains() -> None:
    Domain.objects.filter(next_check_at__lt=database_now() + timedelta(hours=1)).update(next_check_at=database_now())
    for _ in range(2):
        check_due_domains()


def take_subscriptions_back() -> None:
    Unsubscription.objects.filter(status="waiting").update(due_at=database_now())
    while unsubscribe_next(now=database_now()):
        pass


def apply_parked_changes() -> None:
    apply_out_of_order_changes(now=database_now())


def count_segments() -> None:
    while recount_segments():
        pass


def check_states() -> None:
    check_lasting_states()


def run_automations() -> None:
    run_due()


def call_payment_provider() -> None:
    moment = database_now()
    ProviderEvent.objects.exclude(due_at=None).update(due_at=moment)
    Refund.objects.exclude(call_at=None).update(call_at=moment)
    Checkout.objects.exclude(check_at=None).update(check_at=moment)
    ProviderAccount.objects.exclude(look_at=None).update(look_at=moment)
    for account in ProviderAccount.objects.order_by("pk"):
        take_turn(account.pk)


def make_automation_calls() -> None:
    run_due()
    while make_left_calls():
        run_due()


def send_broadcasts() -> None:
    Broadcast.objects.filter(status="Scheduled").update(due_at=database_now() - timedelta(seconds=1))
    current = PreparationLoop()
    for _ in range(2):
        current.look()
        while current.go_on():
            pass


WORKS: dict[str, Callable[[], None]] = {
    work.__name__: work
    for work in (
        call_payment_provider,
        fetch_media,
        list_templates,
        check_access,
        send_mail,
        look_up_addresses,
        notify,
        mail_at_once,
        mail_digest,
        work_on_jobs,
        import_contacts,
        check_domains,
        take_subscriptions_back,
        apply_parked_changes,
        count_segments,
        check_states,
        run_automations,
        make_automation_calls,
        send_broadcasts,
    )
}


def main(name: str, statement: str, value: str) -> None:
    """Write how many processes were killed before one came to its end, or stop counting at `MOST_RUNS`."""

    def run(execute: Callable[..., Any], sql: Any, parameters: Any, *rest: Any) -> Any:
        values = parameters.values() if isinstance(parameters, dict) else parameters or ()
        if statement in str(sql) and value in {str(one) for one in values}:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, parameters, *rest)

    def kill_at_statement(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(run)

    def work() -> None:
        connection_created.connect(kill_at_statement, weak=False)
        connection.close()
        WORKS[name]()

    kills = 0
    while kills < MOST_RUNS and ended_child(work) == signal.SIGKILL:
        kills += 1
    sys.stdout.write(str(kills))
