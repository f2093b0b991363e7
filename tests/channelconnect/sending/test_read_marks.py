"""Contacts are told that what they wrote was read: once, when somebody here has read it."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils.timezone import now

from channelconnect.sending.read_marks import ReadMarks
from config.leases.connections import open_connection
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, a_conversation, a_message, ended
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Conversation, Message, ReadMark
from workspaces.conversations.services import mark_read, mark_unread
from workspaces.subaccounts.models import Channel


def write(conversation: Conversation, message_id: str, *, seconds_ago: int = 60) -> None:
    """Let the contact write."""
    at = now() - timedelta(seconds=seconds_ago)
    Message.objects.create(
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation=conversation,
        direction="in",
        type="text",
        text="Is it ready?",
        status="received",
        provider_message_id=message_id,
        provider_time=at,
    )
    Conversation.objects.filter(pk=conversation.pk).update(unread_count=1, last_inbound_at=at)


def test_a_person_on_whatsapp_sees_that_the_last_message_was_read(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversation = a_conversation(channel)
    write(conversation, "wamid.first", seconds_ago=90)
    write(conversation, "wamid.last")
    start_sender()

    for _ in range(2):
        mark_read(conversation=conversation, now=now())

    until(lambda: meta.ledger()["marks"])
    # What comes after it on the channel comes after it at the provider.
    assert ended(a_message(conversation)).status == "sent"
    assert [one["body"] for one in meta.ledger()["marks"]] == [
        {"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.last"}
    ]
    # Marks and messages are recorded one after the other.
    until(lambda: not ReadMark.objects.exists())


def test_one_on_messenger_is_told_so_too(a: Tenant, meta: RunningSandbox, start_sender: StartSender) -> None:
    conversation = a_conversation(a_channel(a.workspace, meta, platform="facebook"))
    write(conversation, "m_last")
    mark_read(conversation=conversation, now=now())

    start_sender()

    [mark] = until(lambda: meta.ledger()["marks"])
    person = conversation.contact.identities.get().external_id
    assert mark["body"] == {"recipient": {"id": person}, "sender_action": "mark_seen"}


@pytest.mark.usefixtures("transactional_db")
def test_what_was_read_before_or_cannot_be_told_is_told_to_nobody(channel: Channel) -> None:
    conversation = a_conversation(channel)
    mark_read(conversation=conversation, now=now())
    assert not ReadMark.objects.exists()
    write(conversation, "wamid.one")
    Channel.objects.filter(pk=channel.pk).update(status="error")
    mark_read(conversation=conversation, now=now())
    mark_unread(conversation=conversation, now=now())
    assert not ReadMark.objects.exists()


@pytest.mark.usefixtures("transactional_db")
def test_the_sender_takes_no_mark_while_a_newer_read_is_written(channel: Channel) -> None:
    conversation = a_conversation(channel)
    write(conversation, "wamid.first", seconds_ago=90)
    mark_read(conversation=conversation, now=now())
    write(conversation, "wamid.last")
    with open_connection("sender") as sender:
        with transaction.atomic():
            mark_read(conversation=conversation, now=now())
            assert not ReadMarks().claim(sender, run=1, rooms={channel.pk: 9}, batch=9)
        [claimed] = ReadMarks().claim(sender, run=1, rooms={channel.pk: 9}, batch=9)
    assert claimed.message.reply_to == "wamid.last"
