"""Readers, people and keys at the same conversations at the same time."""

import random
from datetime import timedelta
from threading import Event
from typing import Final

import pytest
from django.db import transaction
from django.db.models.functions import Now

from agency.models import PushSubscription, QueuedPush, User, VapidKey
from agency.services.notifications.devices import remove_devices_of_session
from agency.services.notifications.push_queue import hold_devices, record_sent
from tests.factories import ChannelFactory, WorkspaceMemberFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, status, the_conversation
from tests.workspaces.conversations.sending import sent
from workspaces.contacts.models import Contact
from workspaces.contacts.services.channel_people import record_last_inbound
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.services import inbound
from workspaces.conversations.services.conversations import lock_conversation

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE, READERS = 12, 6
# The database ends transactions that do nothing for ten seconds.
LONGEST_IDLE: Final = 8.0


def test_a_burst_of_somebody_new_over_many_readers_is_one_conversation(a: Tenant) -> None:
    told = [received(a.channel, text=str(number), at=moment(number)) for number in range(20)]
    assert sum(at_once(lambda number: receive(told[number], told[(number + 1) % 20]), times=20, threads=READERS)) == 20
    assert (Contact.objects.count(), Message.objects.count()) == (1, 20)
    assert (the_conversation().unread_count, the_conversation().last_message_preview) == (20, "19")


def test_readers_of_the_same_people_never_stand_in_each_others_way(a: Tenant) -> None:
    """Each batch is of two channels and everybody, in an order of its own; half of them come twice."""
    channels = [a.channel, ChannelFactory.create(workspace=a.workspace)]
    told = [
        received(channel, person=person(number), text=f"{channel.pk} {number} {turn}")
        for turn in range(6)
        for channel in channels
        for number in range(PEOPLE)
    ]
    batches = [told[start::READERS] + random.sample(told, len(told) // 2) for start in range(READERS)]
    for batch in batches:
        random.shuffle(batch)
    assert sum(at_once(lambda number: receive(*batches[number]), times=READERS)) == len(told)
    assert (Contact.objects.count(), Conversation.objects.count()) == (PEOPLE, 2 * PEOPLE)
    assert set(Conversation.objects.values_list("unread_count", flat=True)) == {6}


def test_statuses_in_any_order_over_many_readers_end_as_read(a: Tenant) -> None:
    messages = [sent(a, str(number)) for number in range(5)]
    told = [
        status(a.channel, message.provider_message_id or "", one)
        for message in messages
        for one in ("sent", "delivered", "read")
    ]
    batches = [random.sample(told, len(told)) for _ in range(READERS)]
    at_once(lambda number: apply(inbound.apply_statuses, *batches[number]), times=READERS)
    shown = Message.objects.filter(direction="out").values_list("status", "delivered_at", "read_at")
    assert {one[0] for one in shown} == {"read"}
    assert all(one[1] and one[2] for one in shown)


def test_one_key_sends_one_message_however_often_it_comes_at_once(a: Tenant) -> None:
    receive(received(a.channel))
    address, api = f"/conversations/{the_conversation().uuid}/messages", a.workspace_api

    def send(_: int) -> int:
        answer = api.post(address, {"text": "Once"}, Idempotency_Key="composed")
        return int(answer.status_code)

    statuses = at_once(send, times=READERS)
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    assert QueuedMessage.objects.count() == Message.objects.filter(direction="out").count() == 1


def test_of_many_who_saw_nobody_one_gets_the_conversation(a: Tenant) -> None:
    receive(received(a.channel))
    address, owner = f"/conversations/{the_conversation().uuid}", a.workspace.owner.email
    api = a.workspace_api

    def take(_: int) -> int:
        return int(api.patch(address, {"assigned_to": owner, "if_assigned_to": None}).status_code)

    assert sorted(at_once(take, times=READERS)) == [200, *[409] * (READERS - 1)]


@pytest.mark.parametrize("change", ["remove", "merge"])
def test_a_contact_is_removed_or_merged_while_they_write_and_nobody_is_in_the_way(a: Tenant, change: str) -> None:
    """A reader holds the conversation first, then the contact: so does whoever changes the contact."""
    receive(received(a.channel), received(a.channel, person=person(2)))
    conversation = Conversation.objects.select_related("contact").earliest("pk")
    contact, is_held = conversation.contact, Event()

    def work(number: int) -> int:
        if number:
            assert is_held.wait(PATIENCE_SECONDS)
            return _change(a, contact, change)
        with transaction.atomic():
            lock_conversation(conversation)
            is_held.set()
            wait_for_lock()
            record_last_inbound(times={contact.pk: moment(5)})
        return 200

    assert at_once(work, times=2) == [200, 200]
    assert Contact.objects.count() == 1


def a_device(a: Tenant, session_key: str, user: User | None = None) -> PushSubscription:
    host, service = f"{session_key}.example.com", "push.example.com"
    return PushSubscription.objects.create(
        user=user or a.workspace.owner,
        key=VapidKey.objects.create(host=host, public_key="public", private_key="private"),
        session_key=session_key,
        endpoint=f"https://{service}/{session_key}",
        service=service,
    )


def test_messages_go_on_while_a_device_is_removed_and_leave_it_out(a: Tenant) -> None:
    a_device(a, "leaving")
    staying = a_device(a, "staying", WorkspaceMemberFactory.create(workspace=a.workspace).user)
    is_removed, are_read = Event(), Event()

    def work(number: int) -> int:
        if number:
            assert is_removed.wait(PATIENCE_SECONDS)
            try:
                with transaction.atomic():
                    assert hold_devices(PushSubscription.objects.all()) == [staying], "those of notifications"
                return receive(received(a.channel))
            finally:
                are_read.set()
        with transaction.atomic():
            remove_devices_of_session("leaving")
            is_removed.set()
            assert are_read.wait(LONGEST_IDLE), "messages wait for the device"
        return 1

    assert at_once(work, times=2) == [1, 1]
    assert [one.subscription for one in QueuedPush.objects.select_related("subscription")] == [staying]


def test_a_device_is_removed_after_the_messages_that_write_its_alerts(a: Tenant) -> None:
    """A removal waits before it locks any alert, and removes the new ones, too."""
    device, is_written = a_device(a, "leaving"), Event()
    receive(received(a.channel))
    QueuedPush.objects.update(sent_at=Now())

    def work(number: int) -> int:
        if number:
            assert is_written.wait(PATIENCE_SECONDS)
            remove_devices_of_session("leaving")
            return 1
        with transaction.atomic():
            receive(received(a.channel, person=person(2)))
            is_written.set()
            wait_for_lock()
            read = receive(received(a.channel, at=moment(1)))
            assert QueuedPush.objects.filter(subscription=device).values_list("again", flat=True)[0]
        return read

    assert at_once(work, times=2) == [1, 1]
    assert not PushSubscription.objects.exists()
    assert not QueuedPush.objects.exists()


def test_a_device_is_removed_while_its_alert_is_recorded_as_sent(a: Tenant) -> None:
    device, is_held = a_device(a, "leaving"), Event()
    receive(received(a.channel))

    def work(number: int) -> None:
        if number:
            assert is_held.wait(PATIENCE_SECONDS)
            record_sent(QueuedPush.objects.get(), quiet=timedelta(minutes=2))
            return
        with transaction.atomic():
            PushSubscription.objects.select_for_update().get()
            is_held.set()
            wait_for_lock()
            device.delete()

    assert at_once(work, times=2) == [None, None]
    assert not QueuedPush.objects.exists()


def _change(a: Tenant, contact: Contact, change: str) -> int:
    if change == "remove":
        return int(a.workspace_api.delete(f"/contacts/{contact.uuid}").status_code)
    other = Contact.objects.exclude(pk=contact.pk).get()
    return int(a.workspace_api.post(f"/contacts/{contact.uuid}/merge", {"contact": str(other.uuid)}).status_code)
