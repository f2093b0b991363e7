"""Sends alerts to push services side by side, so that a slow service delays only its own alerts.

An alert is sent at least once: its row is claimed before the call and deleted after it. One that is sent twice has the
same topic, so the browser shows one.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from agency.models import Agency, Notification, PushSubscription, QueuedPush
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import notification_kinds
from agency.services.hosts import agency_of_host, url_of_host
from agency.services.notifications import push_queue
from agency.services.notifications.delivery import current_delivery_method
from agency.services.notifications.devices import TEST_KIND, DeviceRefused, live_subscriptions, service_of
from agency.services.notifications.web_push import KeyPair, authorization, encrypt
from agency.tenants import Audience
from config.db import database_now
from config.encryption import UnreadableSecret
from config.hooks import Registry
from config.http.client import HTTPClient
from config.http.guard import Target, URLRefused, check_addresses, check_without_lookup, parse_target
from config.http.resolver import LookupFailed, Resolver
from config.http.transfer import Limits, Request, Result
from config.metrics import count

LIMITS: Final = Limits(total_ms=8_000, connect_ms=4_000, answer_bytes=16 * 1024, kept_body_bytes=256)
KEPT: Final = timedelta(days=1)
# Tries that died with their process.
MOST_TRIES: Final = 5
FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=1)
# A service whose calls for several people failed is left alone for so long. One person could name a host below a
# service's that does not answer.
REST_SECONDS: Final = 30.0
PEOPLE_BEFORE_REST: Final = 3
MOST_BYTES: Final = 3_000
LONGEST_TITLE, LONGEST_BODY = 120, 400
TOKEN_SECONDS: Final = 12 * 3600
POLL_SECONDS: Final = 0.2
GONE: Final = frozenset({404, 410})
TOO_MANY: Final = 429


class PushContent(NamedTuple):
    """What an alert says. `path` is the page that a click opens, `agency` the one whose icon is shown."""

    title: str
    body: str
    path: str
    agency: Agency | None
    is_urgent: bool = False


@dataclass(frozen=True, slots=True)
class PushSource:
    """Writes the alerts of one kind, which is its `name`, in the active language.

    `write` returns None for an alert that is no longer wanted, and a time for one that has to wait. Alerts of the same
    topic are kept back for `quiet` after one was sent.
    """

    name: str
    write: Callable[[QueuedPush], PushContent | timedelta | None]
    quiet: timedelta = timedelta(0)


push_sources = Registry[PushSource](
    "sources of alerts on devices",
    called="`send_due_pushes` calls `write` of the alert's kind before each try; notifications need no source",
    transaction="none",
    failure="ends the task; the alert is tried again later, and is given up after a day",
)


def _write_test(push: QueuedPush) -> PushContent:
    return PushContent(
        _("Test alert"), _("Alerts reach this device."), reverse("account:alerts"), push.subscription.agency, True
    )


TEST_SOURCE: Final = PushSource(TEST_KIND, _write_test)


# Writing -------------------------------------------------------------------------------------------------------------


def _write(push: QueuedPush) -> PushContent | timedelta | None:
    if push.event is not None:
        return _write_notification(push)
    source = push_sources.get(push.kind)
    return source.write(push) if source else None


def _write_notification(push: QueuedPush) -> PushContent | None:
    """Say what an e-mail about the notification says, if the person may still see it and has not read it."""
    event, user = push.event, push.subscription.user
    kind = notification_kinds.get(push.kind)
    if event is None or kind is None or not Notification.objects.filter(event=event, user=user, read_at=None).exists():
        return None
    if current_delivery_method(event, kind, user.pk) in {None, DeliveryMethod.OFF}:
        return None
    about = event.data.get("workspace", "") if event.audience == Audience.WORKSPACE else ""
    sentence = kind.sentence(event.data)
    text = f"{about}: {sentence}" if about else sentence
    return PushContent(str(kind.label), text, kind.address(event.object_id), event.agency)


def payload_of(push: QueuedPush, content: PushContent) -> bytes:
    """Return what the service worker gets: texts that it shows as they are, and paths on the same host."""
    agency = content.agency
    icon = reverse("brand:icon", args=[agency.uuid, "icon-192"]) if agency else ""
    shown = {"title": content.title[:LONGEST_TITLE], "tag": push.topic, "path": content.path, "icon": icon}
    body, language = content.body[:LONGEST_BODY], translation.get_language()
    while True:
        payload = json.dumps({**shown, "body": body, "lang": language}, ensure_ascii=False).encode()
        if len(payload) <= MOST_BYTES or not body:
            return payload
        body = body[: len(body) // 2]


# Sending -------------------------------------------------------------------------------------------------------------


class _Outgoing(NamedTuple):
    """A claimed and written alert."""

    push: QueuedPush
    content: PushContent
    payload: bytes
    target: Target
    # Present while the service's name is looked up.
    addresses: "Future[tuple[str, ...]] | None"


class PushSender:
    """Claims alerts while there is room, and keeps their calls going. All methods belong to one thread."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        most = push_queue.AT_ONCE_PER_SERVICE * len(settings.PUSH_SERVICES)
        self._http = HTTPClient(limits=limits, ca_file=settings.WEBHOOK_CA_FILE or None, most_connections=most)
        self._resolver = Resolver(ttl_s=5.0)
        self._looked_up: list[_Outgoing] = []
        self._in_flight: dict[int, _Outgoing] = {}
        self._resting: dict[str, float] = {}
        self._failed_for: dict[str, set[int]] = {}
        self._tokens: dict[tuple[int, str], str] = {}
        self._claims_again_at = 0.0

    def close(self) -> None:
        self._http.close()
        self._resolver.close()

    def take_turn(self, *, may_claim: bool) -> bool:
        """Claim, send and record what can be; return whether there may be more to do."""
        found = self._claim() if may_claim and time.monotonic() >= self._claims_again_at else []
        for push in found:
            self._begin(push)
        self._submit()
        results = self._http.poll(POLL_SECONDS if self._is_busy and not found else 0.0)
        for result in results:
            self._record(self._in_flight.pop(result.key), result)
        if results:
            self._claims_again_at = 0.0  # there is room again for alerts that were left
        return bool(found or results) or self._is_busy

    @property
    def _is_busy(self) -> bool:
        return bool(self._looked_up or self._in_flight)

    def _claim(self) -> list[QueuedPush]:
        self._resting = {name: until for name, until in self._resting.items() if until > time.monotonic()}
        in_flight = [one.push for one in (*self._looked_up, *self._in_flight.values())]
        claimed = push_queue.claim_pushes(in_flight, resting=self._resting)
        if not claimed:
            self._claims_again_at = time.monotonic() + POLL_SECONDS
        return claimed

    def _begin(self, push: QueuedPush) -> None:
        """Write an alert and look its service up; an alert that is not wanted any more goes."""
        now = database_now()
        if push.sent_at is not None and not push.again:
            push_queue.end_quiet_time(push)
            return
        if push.created_at < now - KEPT or push.tries > MOST_TRIES or not _is_alive(push.subscription):
            push_queue.end(push, "given_up")
            return
        agency = push.event.agency if push.event else push.subscription.agency
        language = push.subscription.user.language or (agency.language if agency else "") or settings.LANGUAGE_CODE
        with translation.override(language):
            content = _write(push)
            if content is None:
                push_queue.end(push, "not_wanted")
                return
            if isinstance(content, timedelta):
                push_queue.wait(push, now + content)
                return
            payload = payload_of(push, content)
        try:
            service_of(push.subscription.endpoint)
            target = parse_target(push.subscription.endpoint)
            at_sight = check_without_lookup(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
        except (DeviceRefused, URLRefused):
            push_queue.remove_device_of(push, "refused")
            return
        looked_up = None if at_sight else self._resolver.submit(target.host)
        self._looked_up.append(_Outgoing(push, content, payload, target, looked_up))

    def _submit(self) -> None:
        """Start the calls whose addresses are known."""
        waiting = []
        for one in self._looked_up:
            if one.addresses is None or one.addresses.done():
                self._call(one)
            else:
                waiting.append(one)
        self._looked_up = waiting

    def _call(self, one: _Outgoing) -> None:
        try:
            addresses = one.addresses.result() if one.addresses else (one.target.address or "",)
            vetted = check_addresses(one.target, addresses, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
            headers = self._headers(one)
        except URLRefused:
            push_queue.remove_device_of(one.push, "refused")
        except (LookupFailed, UnreadableSecret):
            self._try_later(one, None)
        else:
            subscription = one.push.subscription
            body = encrypt(one.payload, p256dh=subscription.p256dh, auth=subscription.auth)
            self._http.submit(Request(one.push.pk, vetted, headers, body))
            self._in_flight[one.push.pk] = one

    def _headers(self, one: _Outgoing) -> tuple[tuple[str, str], ...]:
        push = one.push
        left = (push.created_at + KEPT - database_now()).total_seconds()
        return (
            ("Authorization", self._token(push.subscription, one.target)),
            ("Content-Encoding", "aes128gcm"),
            ("Content-Type", "application/octet-stream"),
            ("TTL", str(max(60, int(left)))),
            ("Topic", push.topic),
            ("Urgency", "high" if one.content.is_urgent else "normal"),
        )

    def _token(self, subscription: PushSubscription, target: Target) -> str:
        """Return the signed header for a service, which is the same for all calls of a run."""
        origin, key = target.url.removesuffix(target.resource), subscription.key
        known = self._tokens.get((key.pk, origin))
        if known is None:
            keys = KeyPair(key.public_key, key.private_key or "")
            expires = int(time.time()) + TOKEN_SECONDS
            known = authorization(origin=origin, contact=url_of_host(key.host), expires=expires, keys=keys)
            self._tokens[key.pk, origin] = known
        return known

    def _record(self, one: _Outgoing, result: Result) -> None:
        """Record what came of a call: sent, gone for good, or to be tried again."""
        push, status = one.push, result.status or 0
        if result.error is None:
            self._failed_for.pop(push.subscription.service, None)
            source = push_sources.get(push.kind)
            push_queue.record_sent(push, quiet=source.quiet if source else timedelta(0))
        elif status in GONE:
            push_queue.remove_device_of(push, "gone")
        elif 400 <= status < 500 and status != TOO_MANY:
            push_queue.record_failure(push)
            push_queue.end(push, "rejected")
        else:
            self._try_later(one, result)

    def _try_later(self, one: _Outgoing, result: Result | None) -> None:
        if result is not None and result.status != TOO_MANY:  # which is about this one browser
            self._let_rest(one.push.subscription)
        now = database_now()
        asked = _retry_after(result, now) if result else None
        wait = min(max(now - one.push.created_at, FIRST_WAIT), LONGEST_WAIT)
        push_queue.record_failure(one.push)
        push_queue.wait(one.push, now + max(wait, asked or wait))
        push_queue.put_device_off(one.push, now + max(FIRST_WAIT, asked or FIRST_WAIT))
        count("pushes_total", 1, "retried")

    def _let_rest(self, subscription: PushSubscription) -> None:
        """Leave a service alone that has failed for several people without a success in between."""
        failed_for = self._failed_for.setdefault(subscription.service, set())
        failed_for.add(subscription.user_id)
        if len(failed_for) >= PEOPLE_BEFORE_REST:
            self._resting[subscription.service] = time.monotonic() + REST_SECONDS


def send_due_pushes(*, seconds: float, limits: Limits = LIMITS) -> None:
    """Send every alert that is due by the database's clock, beginning calls for `seconds`."""
    until = time.monotonic() + seconds
    with closing(PushSender(limits)) as sender:
        while sender.take_turn(may_claim=time.monotonic() < until):
            pass


def _is_alive(subscription: PushSubscription) -> bool:
    """Return whether the person is still signed in there, and the host is still the agency's."""
    is_same = subscription.agency_id is None or agency_of_host(subscription.key.host) == subscription.agency_id
    return is_same and live_subscriptions().filter(pk=subscription.pk).exists()


def _retry_after(result: Result, now: datetime) -> timedelta | None:
    """Return how long a service asks to be left alone, in seconds or until a date; at most six hours."""
    named = next((value for name, value in result.response_headers if name.lower() == "retry-after"), "")
    try:
        if named.isascii() and named.isdigit() and len(named) < 10:
            wait = timedelta(seconds=int(named))
        else:
            until = parsedate_to_datetime(named)
            wait = (until if until.tzinfo else until.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return max(timedelta(0), min(wait, timedelta(hours=6)))
