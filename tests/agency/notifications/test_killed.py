"""Killed at every statement, and in the middle of its worker: each person is notified once and none is left out.

The e-mail is queued once, and goes to its server at least once: whoever dies after the server took it, and before that
is written down, sends it again.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils.timezone import now

from agency.models import Mail, Member, Notification, NotificationEvent, NotificationPreference, User
from agency.models.notifications import Way
from agency.services.notifications.recording import record_notification
from agency.tenants import Tenant as Whose
from config.celery import app
from tests.channelconnect.sending.messages import until
from tests.fakes.smtp_server import SmtpServer
from tests.processes.own_processes import celery_arguments, start, variables
from tests.processes.preloaded import PRELOADED
from tests.processes.starting import kill, stop
from tests.tenants import Tenant
from tools.local import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
KIND = "channel.lost"
CHANNELS = ("Front desk", "Back office", "Salon")
AT_ONCE, DIGEST, IN_THE_LIST = 3, 2, 2
PEOPLE = AT_ONCE + DIGEST + IN_THE_LIST


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server


def some_staff(tenant: Tenant, ways: "list[Way]") -> list[User]:
    """People of an agency, and how each of them wants to be notified."""
    users = User.objects.bulk_create([User(email=f"p{number}@example.com") for number in range(len(ways))])
    Member.objects.filter(agency=tenant.agency).delete()
    Member.objects.bulk_create([Member(agency=tenant.agency, user=user, role="admin") for user in users])
    NotificationPreference.objects.bulk_create(
        [
            NotificationPreference(user=user, area=tenant.agency.uuid, kind=KIND, way=way)
            for user, way in zip(users, ways, strict=True)
        ]
    )
    NotificationEvent.objects.all().delete()
    Mail.objects.all().delete()
    return users


def lose(tenant: Tenant, *channels: str) -> None:
    with transaction.atomic():
        for channel in channels:
            record_notification(
                tenant=Whose(tenant.agency.pk),
                kind=KIND,
                key=str(uuid4()),
                object_id=str(tenant.workspace.uuid),
                data={"channel": channel, "workspace": "Corner Salon"},
                now=now(),
            )


@pytest.fixture
def staff(a: Tenant) -> list[User]:
    """Seven people, who are to be notified of three channels."""
    staff = some_staff(a, [Way.AT_ONCE] * AT_ONCE + [Way.DIGEST] * DIGEST + [Way.CONSOLE] * IN_THE_LIST)
    lose(a, *CHANNELS)
    return staff


def notify_killed(smtp: SmtpServer, *broken: str) -> list[int]:
    """Notify in processes that are killed; gives the kills of each part that was."""
    done = subprocess.run(
        [sys.executable, *PRELOADED, "tests.agency.notifications.killed_notifying", *broken],
        cwd=ROOT,
        env={**variables(), "EMAIL_HOST": "localhost", "EMAIL_PORT": str(smtp.port), "EMAIL_USE_TLS": "false"},
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    return [int(kills) for kills in done.stdout.split()]


def rows() -> Counter[tuple[int, str]]:
    """How often each person has each channel in the list."""
    return Counter(Notification.objects.values_list("user", "event__data__channel"))


def queued(kind: str) -> Counter[tuple[int | None, str]]:
    """How often each person has an e-mail in the queue that names a channel."""
    mails = Mail.objects.filter(kind=kind)
    told = [(mail.user_id, line) for mail in mails for line in mail.context.get("lines", [mail.context])]
    return Counter((user, line["data"]["channel"]) for user, line in told)


def taken_by(smtp: SmtpServer) -> Counter[str]:
    return Counter(smtp.recipients)


def once(staff: list[User]) -> Counter[tuple[int, str]]:
    return Counter((user.pk, channel) for user in staff for channel in CHANNELS)


def test_each_is_notified_once_and_each_e_mail_leaves_at_least_once(staff: list[User], smtp: SmtpServer) -> None:
    kills = notify_killed(smtp)
    assert min(kills) > 15, kills
    assert rows() == once(staff)
    assert queued("notification") == once(staff[:AT_ONCE])
    assert queued("notification_digest") == once(staff[AT_ONCE : AT_ONCE + DIGEST])
    assert not Notification.objects.filter(mail_due_at__isnull=False).exists()
    mails = Mail.objects.filter(kind__startswith="notification")
    assert mails.count() == AT_ONCE * len(CHANNELS) + DIGEST
    assert all(mail.sent_at for mail in mails)
    assert taken_by(smtp) > Counter(mails.values_list("recipient", flat=True))  # those are doubled that were in flight


@pytest.mark.parametrize("broken", ["early_place", "early_mail", "early_sent"])
def test_what_commits_too_early_is_found_out(broken: str, staff: list[User], smtp: SmtpServer) -> None:
    """What the test above is worth."""
    [kills] = notify_killed(smtp, broken)
    assert kills > 15
    is_right = {
        "early_place": rows() == once(staff),
        "early_mail": queued("notification") == once(staff[:AT_ONCE]),
        "early_sent": taken_by(smtp) >= Counter(Mail.objects.values_list("recipient", flat=True)),
    }
    assert not is_right[broken]


def test_a_worker_that_is_killed_at_any_moment_notifies_each_once(a: Tenant) -> None:
    people, channels = 100, [f"Channel {number}" for number in range(5)]
    staff = some_staff(a, [Way.AT_ONCE] * people)
    lose(a, *channels)
    moments = random.Random(14)
    for number in range(1, 3):
        worker = start(celery_arguments("worker", number=number), variables())
        try:
            before = Notification.objects.count() + Mail.objects.count()
            until(partial(_begin_again, before), 60)
            time.sleep(moments.uniform(0, 0.3))
        finally:
            kill(worker)
    unfinished = Mail.objects.count()
    assert unfinished < people * len(channels), "nothing was left to be killed"
    worker = start(celery_arguments("worker", number=9), variables())
    try:
        until(lambda: _begin_again(0) and _is_done(), 120)
    finally:
        stop(worker)
    expected = Counter((user.pk, channel) for user in staff for channel in channels)
    assert rows() == expected
    assert queued("notification") == expected


def _begin_again(before: int) -> bool:
    """Ask for a run as beat does; says whether one has written anything."""
    app.send_task("agency.tell_people")
    time.sleep(0.2)
    return Notification.objects.count() + Mail.objects.count() > before


def _is_done() -> bool:
    waits = Notification.objects.filter(mail_due_at__isnull=False).exists()
    return not waits and not NotificationEvent.objects.filter(told_at=None).exists()
