"""Killed at every statement, and in the middle of its worker: each person is notified once and none is left out.

The e-mail is queued once, and goes to its server at least once: whoever dies after the server took it, and before that
is written down, sends it again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from agency.models import Mail, Member, Notification, NotificationEvent, NotificationPreference, User
from agency.models.notifications import DeliveryMethod
from agency.services.notifications.recording import record_notification
from agency.tasks import tell_people
from agency.tenants import Tenant as Whose
from config.celery import app
from tests.fakes.smtp_server import SmtpServer
from tests.processes.forked_celery import celery_order
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import FULL_SIZE, size
from tests.tenants import Tenant
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
KIND = "channel.lost"
CHANNELS = ("Front desk", "Back office", "Salon")[: size("kills", "channels")]
AT_ONCE, DIGEST, IN_THE_LIST = 3, 2, 2
LEAST_KILLS = 15 if FULL_SIZE else 3
# The tables that a worker is killed in the midst of a transaction with, one after the other.
KILLED_AT = ("agency_notification", "agency_mail", "agency_mail")[-size("kills", "killed workers") :]
# A table has the same number in the databases of other tests.
WAITS_FOR = """
SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE NOT granted AND relation = %s::regclass AND datname = current_database())
"""


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server


def some_staff(tenant: Tenant, ways: "list[DeliveryMethod]") -> list[User]:
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
    """Seven people, who are to be notified of channels."""
    staff = some_staff(
        a,
        [DeliveryMethod.AT_ONCE] * AT_ONCE + [DeliveryMethod.DIGEST] * DIGEST + [DeliveryMethod.CONSOLE] * IN_THE_LIST,
    )
    lose(a, *CHANNELS)
    return staff


def notify_killed(preloaded: Preloaded, smtp: SmtpServer, *broken: str) -> list[int]:
    """Notify in processes that are killed; gives the kills of each part that was."""
    server = {"EMAIL_BACKEND": "config.smtp.EmailBackend", "EMAIL_HOST": "localhost", "EMAIL_PORT": smtp.port}
    order = Order("tests.agency.notifications.killed_notifying", broken, server | {"EMAIL_USE_TLS": False})
    return [int(kills) for kills in preloaded.run(order).split()]


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


def test_each_is_notified_once_and_each_e_mail_leaves_at_least_once(
    staff: list[User], smtp: SmtpServer, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    kills = notify_killed(preloaded, smtp)
    record_property("kills", sum(kills))
    assert min(kills) > LEAST_KILLS, kills
    assert rows() == once(staff)
    assert queued("notification") == once(staff[:AT_ONCE])
    assert queued("notification_digest") == once(staff[AT_ONCE : AT_ONCE + DIGEST])
    assert not Notification.objects.filter(mail_due_at__isnull=False).exists()
    mails = Mail.objects.filter(kind__startswith="notification")
    assert mails.count() == AT_ONCE * len(CHANNELS) + DIGEST
    assert all(mail.sent_at for mail in mails)
    assert taken_by(smtp) > Counter(mails.values_list("recipient", flat=True))  # those are doubled that were in flight


@pytest.mark.parametrize("broken", ["early_place", "early_mail", "early_sent"])
def test_what_commits_too_early_is_found_out(
    broken: str, staff: list[User], smtp: SmtpServer, preloaded: Preloaded
) -> None:
    """What the test above is worth."""
    [kills] = notify_killed(preloaded, smtp, broken)
    assert kills > LEAST_KILLS
    is_right = {
        "early_place": rows() == once(staff),
        "early_mail": queued("notification") == once(staff[:AT_ONCE]),
        "early_sent": taken_by(smtp) >= Counter(Mail.objects.values_list("recipient", flat=True)),
    }
    assert not is_right[broken]


def test_a_worker_that_is_killed_while_it_writes_notifies_each_once(
    a: Tenant, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    people, channels = size("kills", "people"), [f"Channel {number}" for number in range(5)]
    staff = some_staff(a, [DeliveryMethod.AT_ONCE] * people)
    lose(a, *channels)
    for number, table in enumerate(KILLED_AT, start=1):
        _kill_while_it_writes(preloaded, number, table)
    record_property("kills", len(KILLED_AT))
    assert 0 < Mail.objects.count() < people * len(channels), "nothing was left to be killed"
    until(_has_gone_on_to_the_end, 120)
    expected = Counter((user.pk, channel) for user in staff for channel in channels)
    assert rows() == expected
    assert queued("notification") == expected


def _kill_while_it_writes(preloaded: Preloaded, number: int, table: str) -> None:
    """Kill a worker that waits in its transaction for a table; e-mails only once it has queued some."""
    before = Mail.objects.count()
    with ExitStack() as worker:
        worker.enter_context(preloaded.killed_at_end(celery_order("worker", number=number)))
        if table == "agency_mail":
            until(lambda: _has_begun_again() and Mail.objects.count() > before, 60)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN SHARE MODE")
            until(lambda: _has_begun_again() and _is_waited_for(table), 60)
            worker.close()


def _is_waited_for(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITS_FOR, [table])
        return bool(cursor.fetchone() == (True,))


def _has_begun_again() -> bool:
    """Ask for a run as beat does, and give it a moment."""
    app.send_task("agency.tell_people")
    time.sleep(0.1)
    return True


def _has_gone_on_to_the_end() -> bool:
    """Work as the next worker does, which does nothing until the database has noticed the last death."""
    tell_people()
    waits = Notification.objects.filter(mail_due_at__isnull=False).exists()
    return not waits and not NotificationEvent.objects.filter(told_at=None).exists()
