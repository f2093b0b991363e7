"""The browsers in which people see alerts: a key pair for each host, and a subscription for each browser."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, TypedDict, Unpack
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from agency.models import NotificationEvent, PushSubscription, QueuedPush, User, UserSession, VapidKey
from agency.models.push import LONGEST_ENDPOINT
from agency.services.notifications.push_queue import (
    APART,
    MOST_WAITING,
    delete_devices,
    hold_devices,
    waiting_by_device,
)
from agency.services.notifications.web_push import make_key_pair, parse_browser_keys
from config.db import database_now
from config.errors import Conflict, InvalidInput
from config.http.guard import URLRefused, check_without_lookup, parse_target

MOST_DEVICES: Final = 10
HTTPS_PORT: Final = 443
TEST_KIND: Final = "push.test"
TEST_TOPIC: Final = "test"


class _About(TypedDict, total=False):
    topic: str
    kind: str
    event: NotificationEvent


class TooManyDevices(Conflict):
    message = "Alerts are shown on ten devices already. Remove one first."


class DeviceRefused(InvalidInput):
    message = "This browser's data for alerts are not valid."


class UnknownPushService(DeviceRefused):
    message = "This browser's push service is not known here. Use Chrome, Edge, Firefox or Safari."


def vapid_key_of(host: str) -> VapidKey:
    """Return the key pair of one of our hosts, which is made when it is first needed."""
    found = VapidKey.objects.filter(host=host).first()
    if found is not None:
        return found
    pair = make_key_pair()
    made = VapidKey(host=host, public_key=pair.public, private_key=pair.private)
    # If another process has made one meanwhile, that one stays.
    VapidKey.objects.bulk_create([made], ignore_conflicts=True)
    return VapidKey.objects.get(host=host)


def live_subscriptions() -> "QuerySet[PushSubscription]":
    """Return the subscriptions of browsers in which the person is still signed in."""
    session = UserSession.objects.filter(
        session_key=OuterRef("session_key"), user=OuterRef("user"), expire_date__gt=Now()
    )
    return PushSubscription.objects.filter(Exists(session))


def devices_of(user: User) -> "QuerySet[PushSubscription]":
    """Return the devices on which a person sees alerts, the newest first; at most ten."""
    return live_subscriptions().filter(user=user).order_by("-id")


@transaction.atomic
def add_device(
    *,
    user: User,
    key: VapidKey,
    agency_id: int | None,
    session_key: str,
    endpoint: str,
    p256dh: str,
    auth: str,
    browser: str,
    replaces: str = "",
) -> PushSubscription:
    """Show a person's alerts in a browser. Raises `DeviceRefused`, `TooManyDevices`.

    A browser has one row: a known endpoint gets new values. `replaces` is the endpoint that the browser had before.
    """
    service = service_of(endpoint)
    try:
        p256dh, auth = parse_browser_keys(p256dh, auth)
    except ValueError as error:
        raise DeviceRefused from error
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    own = PushSubscription.objects.filter(user=user)
    live = live_subscriptions().filter(user=user).values("pk")
    replaced = (Q(endpoint=replaces) | Q(session_key=session_key)) & ~Q(endpoint=endpoint)
    outdated = Q(user=user) & (~Q(pk__in=live) | replaced)
    delete_devices(PushSubscription.objects.filter(outdated | Q(endpoint=endpoint) & ~Q(user=user)))
    if own.exclude(endpoint=endpoint).count() >= MOST_DEVICES:
        raise TooManyDevices
    row, _ = PushSubscription.objects.update_or_create(
        endpoint=endpoint,
        defaults={
            "user": user,
            "key": key,
            "agency_id": agency_id,
            "session_key": session_key,
            "service": service,
            "p256dh": p256dh,
            "auth": auth,
            "browser": browser,
            "failures": 0,
        },
    )
    return row


def service_of(endpoint: str) -> str:
    """Check a push service's address, and return the service by which its calls are limited. Raises `DeviceRefused`.

    Only services of `PUSH_SERVICES` are called, at the port of HTTPS. Otherwise anybody could name slow servers or
    closed ports that fill all places.
    """
    try:
        target = parse_target(endpoint)
        check_without_lookup(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    except URLRefused as error:
        raise DeviceRefused from error
    if target.scheme != "https" or target.url != endpoint or len(endpoint) > LONGEST_ENDPOINT:
        raise DeviceRefused
    # An address is allowed only if the installation names it.
    if target.port != HTTPS_PORT and target.address is None:
        raise DeviceRefused
    host = target.address or target.host
    found = next((one for one in settings.PUSH_SERVICES if host == one or host.endswith(f".{one}")), None)
    if found is None:
        raise UnknownPushService
    return found


def remove_device(*, user: User, device: UUID) -> bool:
    """Show no alerts there any more; return whether there was such a device of the person."""
    return bool(delete_devices(PushSubscription.objects.filter(user=user, uuid=device)))


def remove_devices_of_session(session_key: str) -> None:
    """Show no alerts in a browser whose person signs out."""
    delete_devices(PushSubscription.objects.filter(session_key=session_key))


def move_devices(before: str, after: str) -> None:
    """Let a browser's alerts follow its session, which has got another key."""
    PushSubscription.objects.filter(session_key=before).update(session_key=after)


@transaction.atomic
def queue_test(*, user: User) -> int:
    """Send a test alert to all devices of a person; return to how many."""
    now = database_now()
    devices = hold_devices(devices_of(user)[:MOST_DEVICES])
    QueuedPush.objects.bulk_create(
        [_queued(one, now, now, topic=TEST_TOPIC, kind=TEST_KIND) for one in devices], ignore_conflicts=True
    )
    return len(devices)


def queue_pushes(event: NotificationEvent, people: Collection[int], *, now: datetime) -> None:
    """Queue the alerts about an event on the devices of these people, in the transaction of their notifications.

    A device of an agency's host shows nothing of other agencies. One for which too many wait gets no more.
    """
    devices = hold_devices(live_subscriptions().filter(Q(agency=None) | Q(agency=event.agency_id), user__in=people))
    waiting = waiting_by_device(devices) if devices else {}
    rows = [
        _queued(one, now, now + waiting.get(one.pk, 0) * APART, topic=f"n{event.pk}", kind=event.kind, event=event)
        for one in devices
        if waiting.get(one.pk, 0) < MOST_WAITING
    ]
    QueuedPush.objects.bulk_create(rows, ignore_conflicts=True)


def _queued(device: PushSubscription, now: datetime, due_at: datetime, **fields: Unpack[_About]) -> QueuedPush:
    return QueuedPush(subscription=device, service=device.service, created_at=now, due_at=due_at, **fields)
