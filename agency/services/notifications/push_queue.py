"""The queue of alerts for devices: how many may wait, which are taken next, and what came of each."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import Count, F, QuerySet

from agency.models import PushSubscription, QueuedPush
from config.db import TimeOrExpression, database_now
from config.metrics import Counter as Metric
from config.metrics import count
from config.postgresql.arrays import integers

SENT: Final = Metric("pushes_total", "Alerts given to push services, by what came of it.", label="outcome")

# So many alerts wait for one device, and come due one after another, so that one busy person delays nobody. Who has so
# many before them need no more.
MOST_WAITING: Final = 20
APART: Final = timedelta(seconds=1)
AT_ONCE_PER_SERVICE: Final = 16
# A claimed alert whose process died is due again after this time.
LEASE: Final = timedelta(minutes=2)
# Calls in a row after which a subscription is taken for dead, if the last one's alert has been tried for so long. A
# busy hour in which the service is away or over its limit makes as many.
MOST_FAILURES: Final = 100
SHORTEST_DEATH: Final = timedelta(hours=12)
# Reads one entry of the index for each service, however many alerts wait.
SERVICES: Final = """
WITH RECURSIVE found AS (
    (SELECT service FROM agency_queuedpush ORDER BY service LIMIT 1)
    UNION ALL
    SELECT following.service FROM found CROSS JOIN LATERAL (
        SELECT service FROM agency_queuedpush WHERE service > found.service ORDER BY service LIMIT 1
    ) AS following
)
SELECT service FROM found
"""
# The subscription is locked before its alerts. A transaction that writes alerts holds their subscriptions until it
# ends, and leaves out those that are being deleted.
HOLD: Final = """
SELECT id FROM agency_pushsubscription WHERE id = ANY (%s::bigint[]) ORDER BY id FOR KEY SHARE SKIP LOCKED
"""


def due_pushes(now: TimeOrExpression) -> "QuerySet[QueuedPush]":
    return QueuedPush.objects.filter(due_at__lte=now).order_by("due_at", "id")


def waiting_by_device(devices: Collection[PushSubscription]) -> dict[int, int]:
    """Return how many alerts wait for each of these devices, by their ids."""
    waiting = QueuedPush.objects.filter(subscription__in=devices, sent_at=None)
    return dict(waiting.values_list("subscription").annotate(Count("pk")).order_by())


def hold_devices(rows: "QuerySet[PushSubscription]") -> list[PushSubscription]:
    """Return those of these subscriptions that nobody is deleting. They stay until the caller's transaction ends."""
    devices = list(rows)
    if not devices:
        return []
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [integers([one.pk for one in devices])])
        held = {key for (key,) in cursor.fetchall()}
    return [one for one in devices if one.pk in held]


@transaction.atomic
def delete_devices(rows: "QuerySet[PushSubscription]") -> int:
    """Delete subscriptions with all their alerts; return how many."""
    keys = list(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
    if keys:
        PushSubscription.objects.filter(pk__in=keys).delete()
    return len(keys)


# Taking --------------------------------------------------------------------------------------------------------------


@transaction.atomic
def claim_pushes(in_flight: Collection[QueuedPush], *, resting: Collection[str]) -> list[QueuedPush]:
    """Take due alerts of each service that has places left, one of each device. Each try is counted before it begins.

    An alert whose process died is taken alone, so that one that kills its process takes others with it only once.
    """
    now = database_now()
    claimed = [] if any(one.tries > 1 for one in in_flight) else _locked(due_pushes(now).filter(tries__gt=0), 1)
    claimed = claimed or _claim_of_each_service(in_flight, now, resting)
    for push in claimed:
        push.tries += 1
    keys = [push.pk for push in claimed]
    if keys:
        QueuedPush.objects.filter(pk__in=keys).update(due_at=now + LEASE, tries=F("tries") + 1)
    return claimed


def _claim_of_each_service(
    in_flight: Collection[QueuedPush], now: datetime, resting: Collection[str]
) -> list[QueuedPush]:
    with connection.cursor() as cursor:
        cursor.execute(SERVICES)
        services: list[str] = [service for (service,) in cursor.fetchall()]
    busy = Counter(push.service for push in in_flight)
    devices = [push.subscription_id for push in in_flight]
    of_device: dict[int, QueuedPush] = {}
    for service in services:
        room = AT_ONCE_PER_SERVICE - busy[service]
        if room > 0 and service not in resting:
            rows = due_pushes(now).filter(service=service, tries=0).exclude(subscription__in=devices)
            for push in _locked(rows, room):
                of_device.setdefault(push.subscription_id, push)
    return list(of_device.values())


def _locked(rows: "QuerySet[QueuedPush]", most: int) -> list[QueuedPush]:
    rows = rows.select_related("subscription__user", "subscription__key", "subscription__agency", "event__agency")
    return list(rows.select_for_update(skip_locked=True, no_key=True, of=("self",))[:most])


# Recording -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def record_sent(push: QueuedPush, *, quiet: timedelta) -> None:
    """Delete the row, or keep it for the quiet time of its kind. What came meanwhile is sent after that time."""
    rows, now = QueuedPush.objects.filter(pk=push.pk), database_now()
    PushSubscription.objects.filter(pk=push.subscription_id).update(failures=0, last_used_at=now)
    if quiet:
        rows.update(sent_at=now, due_at=now + quiet, tries=0, again=False)
    else:
        rows.delete()
    count("pushes_total", 1, "sent")


def end(push: QueuedPush, outcome: str) -> None:
    QueuedPush.objects.filter(pk=push.pk).delete()
    count("pushes_total", 1, outcome)


def end_quiet_time(push: QueuedPush) -> None:
    QueuedPush.objects.filter(pk=push.pk, again=False).delete()


def remove_device_of(push: QueuedPush, outcome: str) -> None:
    """Delete a subscription that nobody can use any more, with all its alerts."""
    delete_devices(PushSubscription.objects.filter(pk=push.subscription_id))
    count("pushes_total", 1, outcome)


def record_failure(push: QueuedPush) -> None:
    rows = PushSubscription.objects.filter(pk=push.subscription_id)
    rows.update(failures=F("failures") + 1)
    if push.created_at < database_now() - SHORTEST_DEATH:
        delete_devices(rows.filter(failures__gte=MOST_FAILURES))


def wait(push: QueuedPush, due_at: datetime) -> None:
    """Try again then. This try has ended, so it no longer counts."""
    QueuedPush.objects.filter(pk=push.pk).update(due_at=due_at, tries=0)


@transaction.atomic
def put_device_off(push: QueuedPush, until: datetime) -> None:
    """Let the other alerts of a device wait, too. Rows that new messages hold are left as they are."""
    rows = QueuedPush.objects.filter(subscription=push.subscription_id, due_at__lt=until)
    keys = list(rows.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
    QueuedPush.objects.filter(pk__in=keys).update(due_at=until)
