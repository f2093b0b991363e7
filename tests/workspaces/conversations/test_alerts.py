"""Alerts on devices about messages: one for each conversation that waits, none for what somebody reads."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import NotificationPreference, QueuedPush
from agency.models.notifications import DeliveryMethod
from agency.services.notifications.push_queue import APART, MOST_WAITING
from agency.tasks import send_pushes
from config.redis import client
from tests.agency.console.browsers import a_browser, a_member, text
from tests.factories import ChannelFactory, WorkspaceMemberFactory
from tests.fakes.push_service import PushService, push_service
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import mark_read
from workspaces.conversations.services.alerts import KIND, WAIT
from workspaces.subaccounts.models import Channel, WorkspaceMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(settings: Any, tmp_path: Path) -> Iterator[PushService]:
    with push_service(settings, tmp_path) as running:
        yield running


@pytest.fixture
def channel(a: Tenant) -> Channel:
    return ChannelFactory.create(workspace=a.workspace)


@pytest.fixture
def owner(a: Tenant, service: PushService) -> Client:
    browser = a_browser(a.workspace.owner)
    browser.post("/account/alerts/add", service.subscription())
    return browser


@pytest.fixture
def send(service: PushService) -> Callable[[], list[dict[str, Any]]]:
    """Let everything come due and send it; gives the alerts that came of it."""

    def run() -> list[dict[str, Any]]:
        before = len(service.requests)
        QueuedPush.objects.update(due_at=now() - timedelta(seconds=1))
        send_pushes()
        return service.alerts[before:]

    return run


def test_a_burst_is_one_alert_and_what_comes_after_it_one_more(
    a: Tenant, owner: Client, channel: Channel, service: PushService, send: Any
) -> None:
    receive(*(received(channel, at=moment(minute)) for minute in range(3)), received(channel, person=person(2)))
    first, second = sorted(send(), key=lambda alert: str(alert["title"]))
    conversation = Conversation.objects.get(contact__name="Person 1")
    assert first["title"] == "Person 1"
    assert first["body"] == f"New message · {a.workspace.name}"
    assert "Hello" not in str(service.alerts)
    assert first["path"] == f"/app/inbox/{conversation.uuid}"
    assert owner.get(first["path"]).status_code == 200
    assert {request.headers["urgency"] for request in service.requests} == {"high"}
    assert first["tag"] != second["tag"]


def test_later_messages_of_a_conversation_wait_and_make_one_alert(owner: Client, channel: Channel, send: Any) -> None:
    receive(received(channel))
    [first] = send()
    receive(received(channel, at=moment(1)))
    receive(received(channel, at=moment(2)))
    send_pushes()
    kept = QueuedPush.objects.get()
    assert timedelta(seconds=30) < kept.due_at - now() <= timedelta(minutes=2)
    [second] = send()
    assert second["tag"] == first["tag"]
    assert send() == []
    assert not QueuedPush.objects.exists()


def test_few_alerts_wait_for_a_device_and_come_one_after_another(owner: Client, channel: Channel) -> None:
    for first in (0, MOST_WAITING - 2, MOST_WAITING + 5):
        receive(*(received(channel, person=person(first + number)) for number in range(1, 6)))
        times = [one.due_at - one.created_at for one in QueuedPush.objects.order_by("due_at")]
        assert times == [WAIT + number * APART for number in range(len(times))]
    receive(*(received(channel, person=person(100 + number)) for number in range(MOST_WAITING)))
    assert QueuedPush.objects.count() == MOST_WAITING
    assert len(set(QueuedPush.objects.values_list("due_at", flat=True))) > 1


def test_read_conversations_and_an_open_inbox_get_no_alert(
    a: Tenant, owner: Client, channel: Channel, send: Any
) -> None:
    receive(received(channel))
    mark_read(conversation=Conversation.objects.get(), now=now())
    assert send() == []
    assert not QueuedPush.objects.exists()
    receive(received(channel, at=moment(1)))
    owner.get("/app/unread?looks")
    assert send() == []
    assert QueuedPush.objects.count() == 1, "it waits until the person looks away"
    QueuedPush.objects.update(created_at=now() - timedelta(hours=1))
    assert send() == []
    assert QueuedPush.objects.get().due_at > now() + timedelta(minutes=4), "an old alert is looked at less often"
    client().delete(f"inbox-look:{a.workspace.pk}:{a.workspace.owner_id}")
    owner.get("/app/unread")
    assert len(send()) == 1


def test_only_people_of_the_workspace_who_chose_it_get_alerts(
    a: Tenant, b: Tenant, owner: Client, channel: Channel, service: PushService, send: Any
) -> None:
    for name, other in (("staff", a_member(a.agency).user), ("stranger", b.workspace.owner)):
        a_browser(other).post("/account/alerts/add", service.subscription(name))
    colleague = WorkspaceMemberFactory.create(workspace=a.workspace)
    a_browser(colleague.user).post("/account/alerts/add", service.subscription("colleague"))
    receive(received(channel))
    assert len(send()) == 2
    assert {request.line for request in service.requests} == {
        "POST /send/one HTTP/1.1",
        "POST /send/colleague HTTP/1.1",
    }
    QueuedPush.objects.all().delete()
    receive(received(channel, at=moment(1)))
    WorkspaceMember.objects.all().delete()
    NotificationPreference.objects.create(
        user=a.workspace.owner, area=a.workspace.uuid, kind=KIND, way=DeliveryMethod.OFF
    )
    assert send() == []
    assert not QueuedPush.objects.exists()


def test_the_choice_is_among_the_preferences_and_in_no_list(owner: Client) -> None:
    page = text(owner.get("/app/notifications/settings"))
    assert "New messages, on devices with alerts" in page
    assert "Alerts on your devices" in page
    assert "New messages, on devices with alerts" not in text(owner.get("/app/notifications"))
