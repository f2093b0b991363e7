"""Alerts on devices: a browser is added and removed, and gets each alert until its person signs out."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client
from django.utils.timezone import now

from agency.models import (
    Member,
    Notification,
    NotificationPreference,
    PushSubscription,
    QueuedPush,
    User,
    UserSession,
    VapidKey,
)
from agency.models.notifications import DeliveryMethod
from agency.services.notifications.devices import MOST_DEVICES, vapid_key_of
from agency.services.notifications.push_queue import (
    APART,
    AT_ONCE_PER_SERVICE,
    MOST_FAILURES,
    MOST_WAITING,
    SHORTEST_DEATH,
    claim_pushes,
)
from agency.services.notifications.recording import record_notification
from agency.tasks import forget_records, send_pushes, tell_people
from agency.tenants import Tenant as Whose
from tests import furnished
from tests.agency.console.browsers import a_browser, a_host, a_member, flashes, signed_in_on, text
from tests.fakes.push_service import CREATED, PushService, claims_of, push_service
from tests.tenants import Tenant

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
ALERTS, ADD, RENEW, REMOVE, TEST = (f"/account/alerts{part}" for part in ("", "/add", "/renew", "/remove", "/test"))
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
KIND = "channel.lost"


@pytest.fixture
def service(settings: Any, tmp_path: Path) -> Iterator[PushService]:
    with push_service(settings, tmp_path) as running:
        yield running


@pytest.fixture
def reader(a: Tenant) -> User:
    return a_member(a.agency, "admin").user


@pytest.fixture
def browser(reader: User) -> Client:
    return a_browser(reader)


def add(browser: Client, service: PushService, name: str = "one", **changed: str) -> Any:
    return browser.post(ADD, {**service.subscription(name), **changed}, headers={"User-Agent": FIREFOX}, follow=True)


def lose(tenant: Tenant, key: str = "") -> None:
    with transaction.atomic():
        record_notification(
            tenant=Whose(tenant.agency.pk),
            kind=KIND,
            key=key or str(uuid4()),
            object_id=str(tenant.workspace.uuid),
            data={"channel": "Front desk", "workspace": "Corner Salon"},
            now=now(),
        )
    tell_people()


def answer(status: str, *fields: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "Content-Length: 0", "", ""]).encode()


def come_due() -> None:
    QueuedPush.objects.update(due_at=now() - timedelta(seconds=1))


def test_a_browser_is_added_once_named_and_removed(browser: Client, reader: User, service: PushService) -> None:
    page = text(browser.get(ALERTS))
    assert "Show alerts on this device" in page
    assert VapidKey.objects.get().public_key in browser.get(ALERTS).content.decode()
    assert flashes(add(browser, service)) == ["This device shows your alerts now."]
    page = text(add(browser, service))
    assert "Firefox on Linux" in page
    assert "This device" in page
    assert "Show alerts on this device" not in page
    device = PushSubscription.objects.get()
    assert (device.user, device.service, device.agency) == (reader, "127.0.0.1", None)
    other = a_browser(a_member(Member.objects.get(user=reader).agency).user)
    other.post(REMOVE, {"device": str(device.uuid)})
    assert PushSubscription.objects.exists(), "a device of another person"
    assert flashes(browser.post(REMOVE, {"device": str(device.uuid)}, follow=True)) == [
        "That device shows no more alerts."
    ]
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"endpoint": ""},
        {"endpoint": "http://fcm.googleapis.com/send/1"},
        {"endpoint": "https://user@fcm.googleapis.com/send/1"},
        {"endpoint": "https://10.0.0.1/send/1"},
        {"endpoint": "https://fcm.googleapis.com:8443/send/1"},
        {"endpoint": "https://fcm.googleapis.com/" + "x" * 1_000},
        {"p256dh": "AAAA"},
        {"auth": "AAAA"},
    ],
)
def test_what_no_browser_sends_is_refused(browser: Client, service: PushService, changed: dict[str, str]) -> None:
    assert flashes(add(browser, service, **changed)) == ["This browser's data for alerts are not valid."]
    assert browser.post(RENEW, {**service.subscription(), **changed}).status_code == 422
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("fcm.googleapis.com", True),
        ("web.push.apple.com", True),
        ("wns2-par02p.notify.windows.com", True),
        ("updates.push.services.mozilla.com", True),
        ("push.example.com", False),
        ("evil-fcm.googleapis.com", False),
        ("fcm.googleapis.com.example.com", False),
    ],
)
def test_only_the_push_services_of_browsers_are_called(
    browser: Client, reader: User, service: PushService, host: str, is_known: bool
) -> None:
    said = flashes(add(browser, service, endpoint=f"https://{host}/send/1"))
    assert PushSubscription.objects.filter(user=reader).exists() == is_known
    refusal = "This browser's push service is not known here. Use Chrome, Edge, Firefox or Safari."
    assert said == ["This device shows your alerts now." if is_known else refusal]


def test_a_service_that_is_no_longer_allowed_is_forgotten_without_a_call(
    a: Tenant, browser: Client, service: PushService, settings: Any
) -> None:
    add(browser, service)
    settings.PUSH_SERVICES = ["fcm.googleapis.com"]
    lose(a)
    send_pushes()
    assert not service.requests
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize("fault", ["429 Too Many Requests", "503 Busy"])
def test_a_browser_that_fails_delays_only_its_own_alerts(
    a: Tenant, browser: Client, service: PushService, fault: str
) -> None:
    """Anybody may have a browser whose calls fail, so that says nothing of the service."""
    service.answers = [answer(fault), CREATED, CREATED]
    add(browser, service)
    add(a_browser(a_member(a.agency, "admin").user), service, "two")
    for _ in range(3):
        lose(a)
    come_due()
    send_pushes()
    assert len(service.requests) == 1 + 3
    failing = PushSubscription.objects.get(failures=1)
    left = QueuedPush.objects.all()
    assert {one.subscription_id for one in left} == {failing.pk}
    assert all(one.due_at > now() + timedelta(seconds=20) for one in left)


@pytest.mark.parametrize(("people", "is_left_alone"), [(2, False), (4, True)])
def test_a_service_that_fails_for_three_people_is_left_alone(
    a: Tenant, service: PushService, people: int, is_left_alone: bool
) -> None:
    """Sixteen calls are under way at once. When the third person's first call has failed, at most 36 have begun."""
    service.answers = [answer("503 Busy")]
    users = [a_member(a.agency, "admin").user for _ in range(people)]
    for number in range(MOST_DEVICES):
        for user in users:
            add(a_browser(user), service, f"{user.pk}-{number}")
    lose(a)
    send_pushes()
    assert (len(service.requests) < people * MOST_DEVICES) is is_left_alone


def test_a_bad_hour_does_not_make_a_device_dead(a: Tenant, browser: Client, service: PushService) -> None:
    service.answers = [answer("503 Busy")]
    add(browser, service)
    PushSubscription.objects.update(failures=MOST_FAILURES)
    lose(a)
    send_pushes()
    assert PushSubscription.objects.get().failures == MOST_FAILURES + 1
    QueuedPush.objects.update(created_at=now() - SHORTEST_DEATH)
    come_due()
    send_pushes()
    assert not PushSubscription.objects.exists()


def test_few_alerts_wait_for_a_device_and_come_one_after_another(
    a: Tenant, browser: Client, service: PushService
) -> None:
    add(browser, service)
    for _ in range(MOST_WAITING + 2):
        lose(a)
    waiting = QueuedPush.objects.order_by("id")
    times = [one.due_at - one.created_at for one in waiting]
    assert times == [number * APART for number in range(MOST_WAITING)]


def some_alerts(service: str, number: int, key: VapidKey, user: User) -> None:
    """Alerts that are due, each for its own device."""
    devices = PushSubscription.objects.bulk_create(
        PushSubscription(user=user, key=key, endpoint=f"https://{service}/{one}", service=service)
        for one in range(number)
    )
    QueuedPush.objects.bulk_create(
        QueuedPush(subscription=one, service=service, topic="t", kind=KIND, created_at=now(), due_at=now())
        for one in devices
    )


def test_each_service_has_its_own_places_however_many_alerts_wait_for_another(reader: User) -> None:
    key = vapid_key_of("testserver")
    for service, number in (("full.example", 40), ("other.example", 1), ("resting.example", 2)):
        some_alerts(service, number, key, reader)
    claimed = claim_pushes([], resting={"resting.example"})
    assert Counter(push.service for push in claimed) == {"full.example": AT_ONCE_PER_SERVICE, "other.example": 1}
    assert not claim_pushes(claimed, resting={"resting.example"})
    assert len(claim_pushes(claimed[1:], resting={"resting.example"})) == 1


def test_an_alert_whose_process_died_is_begun_alone(reader: User) -> None:
    some_alerts("one.example", 5, vapid_key_of("testserver"), reader)
    died = list(QueuedPush.objects.order_by("id").values_list("pk", flat=True)[:2])
    QueuedPush.objects.filter(pk__in=died).update(tries=1)
    alone = claim_pushes([], resting=())
    assert [push.pk for push in alone] == died[:1]
    beside = claim_pushes(alone, resting=())
    assert len(beside) == 3
    assert not {push.pk for push in beside} & set(died)
    assert [push.pk for push in claim_pushes(beside, resting=())] == died[1:]


def test_a_person_has_ten_devices_and_an_eleventh_is_refused(reader: User, service: PushService) -> None:
    browsers = [a_browser(reader) for _ in range(MOST_DEVICES + 1)]
    for number, one in enumerate(browsers[:-1]):
        add(one, service, str(number))
    refused = add(browsers[-1], service, "last")
    assert flashes(refused) == ["Alerts are shown on ten devices already. Remove one first."]
    assert PushSubscription.objects.count() == MOST_DEVICES
    UserSession.objects.filter(session_key=browsers[0].session.session_key).delete()
    add(browsers[-1], service, "last")
    assert not PushSubscription.objects.filter(endpoint__endswith="/0").exists(), "one whose session is over has gone"
    assert PushSubscription.objects.filter(endpoint__endswith="/last").exists()


def test_an_alert_says_what_an_e_mail_says_and_is_signed_and_sealed(
    a: Tenant, browser: Client, reader: User, service: PushService, django_assert_max_num_queries: Any
) -> None:
    add(browser, service)
    User.objects.filter(pk=reader.pk).update(language="de")
    lose(a)
    send_pushes()
    [request], [alert] = service.requests, service.alerts
    assert (alert["title"], alert["lang"]) == ("Kanal getrennt", "de")
    assert "Corner Salon" in alert["body"]
    assert "Front desk" in alert["body"]
    assert alert["path"] == f"/console/sub-accounts/{a.workspace.uuid}"
    assert browser.get(alert["icon"]).status_code == 200
    headers = request.headers
    assert request.line == "POST /send/one HTTP/1.1"
    assert headers["content-encoding"] == "aes128gcm"
    assert headers["topic"] == alert["tag"]
    assert 86_000 < int(headers["ttl"]) <= 86_400
    claims, key = claims_of(request)
    assert key == VapidKey.objects.get().public_key
    assert claims["aud"] == service.origin
    assert time.time() < claims["exp"] < time.time() + 86_400
    assert claims["sub"].startswith("http")
    assert not QueuedPush.objects.exists()
    send_pushes()
    assert len(service.requests) == 1


def test_what_is_read_turned_off_or_no_longer_ones_own_is_not_shown(
    a: Tenant, browser: Client, reader: User, service: PushService
) -> None:
    add(browser, service)
    lose(a)
    Notification.objects.filter(user=reader).update(read_at=now())
    send_pushes()
    lose(a)
    off = NotificationPreference.objects.create(user=reader, area=a.agency.uuid, kind=KIND, way=DeliveryMethod.OFF)
    send_pushes()
    lose(a)
    assert not QueuedPush.objects.exists()
    off.delete()
    lose(a)
    Member.objects.filter(user=reader).delete()
    send_pushes()
    assert not service.requests
    assert not QueuedPush.objects.exists()


def test_signing_out_ends_it_at_once_and_any_other_end_of_the_session_before_the_next_alert(
    a: Tenant, browser: Client, reader: User, service: PushService
) -> None:
    add(browser, service)
    browser.post("/account/sign-out")
    assert not PushSubscription.objects.exists()
    kept, other = a_browser(reader), a_browser(reader)
    add(other, service)
    kept.post("/account/sessions/end-others")
    assert not PushSubscription.objects.exists()
    other = a_browser(reader)
    add(other, service)
    lose(a)
    UserSession.objects.filter(user=reader).delete()
    send_pushes()
    lose(a)
    assert not service.requests
    assert not QueuedPush.objects.exists()
    PushSubscription.objects.update(last_used_at=now() - timedelta(days=31))
    forget_records()
    assert not PushSubscription.objects.exists()


def test_a_session_takes_its_alerts_along_to_another_key(browser: Client, service: PushService) -> None:
    add(browser, service)
    session = browser.session
    session.cycle_key()
    assert PushSubscription.objects.get().session_key == session.session_key


def test_on_an_agency_s_host_only_its_alerts_are_shown_with_its_key(
    a: Tenant, b: Tenant, reader: User, service: PushService
) -> None:
    host = a_host(a.agency)
    browser = signed_in_on(host, reader)
    add(browser, service)
    assert PushSubscription.objects.get().agency == a.agency
    assert PushSubscription.objects.get().key == vapid_key_of(host)
    Member.objects.create(agency=b.agency, user=reader, role="admin")
    lose(b)
    assert not QueuedPush.objects.exists()
    lose(a)
    send_pushes()
    assert len(service.alerts) == 1


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_a_browser_that_is_gone_is_forgotten(a: Tenant, browser: Client, service: PushService, status: str) -> None:
    service.answers = [answer(status)]
    add(browser, service)
    lose(a)
    send_pushes()
    assert len(service.requests) == 1
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize(
    ("first", "least"),
    [
        (answer("503 Service Unavailable"), 20),
        (answer("429 Too Many Requests", "Retry-After: 600"), 590),
        (answer("429 Too Many Requests", "Retry-After: Tue, 01 Jan 2999 00:00:00 GMT"), 6 * 3600 - 10),
        (answer("429 Too Many Requests", "Retry-After: soon"), 20),
        (answer("429 Too Many Requests", f"Retry-After: Tue, 01 Jan {'9' * 30} 00:00:00 GMT"), 20),
        (answer("301 Moved", "Location: https://127.0.0.1/"), 20),
    ],
)
def test_a_service_that_is_away_is_asked_again_later(
    a: Tenant, browser: Client, service: PushService, first: bytes, least: int
) -> None:
    service.answers = [first, CREATED]
    add(browser, service)
    lose(a)
    send_pushes()
    waiting = QueuedPush.objects.get()
    assert timedelta(seconds=least) < waiting.due_at - now() < timedelta(hours=6, seconds=1)
    assert PushSubscription.objects.get().failures == 1
    come_due()
    send_pushes()
    assert len(service.requests) == 2
    assert not QueuedPush.objects.exists()
    assert PushSubscription.objects.get().failures == 0


def test_what_is_a_day_old_or_died_too_often_or_is_refused_is_given_up(
    a: Tenant, browser: Client, service: PushService
) -> None:
    add(browser, service)
    for change in ({"created_at": now() - timedelta(days=1, minutes=1)}, {"tries": 5}):
        lose(a)
        QueuedPush.objects.update(**change)
        send_pushes()
        assert not QueuedPush.objects.exists()
    assert not service.requests
    service.answers = [answer("413 Payload Too Large")]
    lose(a)
    send_pushes()
    assert len(service.requests) == 1
    assert not QueuedPush.objects.exists()
    assert PushSubscription.objects.get().failures == 1


def test_a_process_that_dies_after_the_call_sends_the_same_topic_again(
    a: Tenant, browser: Client, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(browser, service)
    lose(a)
    with monkeypatch.context() as dying:
        dying.setattr("agency.services.notifications.push_queue.record_sent", lambda _push, quiet: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send_pushes()
    left = QueuedPush.objects.get()
    assert left.tries == 1, "the try was counted before the call"
    send_pushes()
    assert len(service.requests) == 1, "it is leased for a while"
    come_due()
    send_pushes()
    first, second = service.requests
    assert first.headers["topic"] == second.headers["topic"]
    assert not QueuedPush.objects.exists()


def test_a_slow_service_does_not_stop_another(
    a: Tenant, browser: Client, reader: User, service: PushService, settings: Any, tmp_path: Path
) -> None:
    slow = PushService()
    slow.answers = [b""]
    try:
        (tmp_path / "both.pem").write_bytes(slow.authority.cert_pem.bytes() + service.authority.cert_pem.bytes())
        settings.WEBHOOK_CA_FILE = str(tmp_path / "both.pem")
        add(a_browser(reader), slow)
        PushSubscription.objects.update(service="slow.example")
        for _ in range(3):
            lose(a)
        add(browser, service)
        lose(a)
        send_pushes()
        assert len(service.alerts) == 1
        assert QueuedPush.objects.filter(subscription__service="slow.example").count() == 4
        assert slow.requests
    finally:
        slow.receiver.close()


def test_a_test_alert_reaches_all_devices_and_is_limited(browser: Client, reader: User, service: PushService) -> None:
    add(browser, service)
    add(a_browser(reader), service, "two")
    assert flashes(browser.post(TEST, follow=True)) == ["A test alert is on its way to 2 devices."]
    browser.post(TEST)
    send_pushes()
    assert [alert["path"] for alert in service.alerts] == [ALERTS, ALERTS]
    said = [flashes(browser.post(TEST, follow=True))[0] for _ in range(10)]
    assert said[-1].startswith("Too many tries.")


def test_a_browser_renews_its_subscription(browser: Client, service: PushService) -> None:
    add(browser, service, "old")
    asked = browser.get(RENEW).json()
    assert asked["key"] == VapidKey.objects.get().public_key
    assert asked["token"]
    old = service.subscription("old")["endpoint"]
    assert browser.post(RENEW, {**service.subscription("new"), "replaces": old}).status_code == 204
    assert PushSubscription.objects.get().endpoint.endswith("/new")


def test_the_service_worker_stands_at_the_root_of_each_host(a: Tenant) -> None:
    for host in ("testserver", a_host(a.agency)):
        script = a_browser().get("/service-worker.js", HTTP_HOST=host)
        assert script.status_code == 200
        assert script["Content-Type"].startswith("text/javascript")
        assert script["Cache-Control"] == "no-cache"
        assert b"pushsubscriptionchange" in script.content
