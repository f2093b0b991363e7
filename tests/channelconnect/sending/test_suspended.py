"""Messages of whoever is suspended wait, hold up nobody, and leave on restoring unless they are an hour old."""

from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from agency.actors import SYSTEM
from agency.services import restore_agency, suspend_agency
from channelconnect.models import SenderRun
from channelconnect.sending.conversations import AutomatedMessages, ConversationMessages
from channelconnect.sending.read_marks import ReadMarks
from channelconnect.sending.sources import MessageSource
from config.db import database_now
from config.leases.connections import open_connection
from config.leases.runs import SHARDS
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import NUMBERS, a_channel, a_conversation, a_message, ended, sends
from tests.factories import WorkspaceFactory
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Conversation, Message, QueuedMessage, ReadMark
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import restore_workspace, suspend_workspace

WHO = pytest.mark.parametrize("who", ["workspace", "agency"])


def suspend(a: Tenant, who: str) -> None:
    if who == "workspace":
        suspend_workspace(workspace=a.workspace, now=database_now(), by=SYSTEM)
    else:
        suspend_agency(agency=a.workspace.agency, reason="", now=database_now(), by=SYSTEM)


def restore(a: Tenant, who: str) -> None:
    if who == "workspace":
        restore_workspace(workspace=a.workspace, now=database_now(), by=SYSTEM)
    else:
        restore_agency(agency=a.workspace.agency, by=SYSTEM)


def queued(conversation: Conversation, *, minutes: float, **fields: Any) -> Message:
    """A message that was written so long ago, by the database's clock."""
    message = a_message(conversation, **fields)
    QueuedMessage.objects.filter(message=message).update(queued_at=database_now() - timedelta(minutes=minutes))
    return message


@pytest.fixture
def other(meta: RunningSandbox, channel: Channel) -> Channel:
    """Somebody else's number, of another agency."""
    return a_channel(WorkspaceFactory.create(), meta, external_id=NUMBERS[1])


@WHO
def test_they_wait_for_the_restoring_and_those_of_an_hour_ago_fail(
    a: Tenant, meta: RunningSandbox, channel: Channel, other: Channel, start_sender: StartSender, who: str
) -> None:
    young = queued(a_conversation(channel), minutes=55)
    old = queued(a_conversation(channel), minutes=60.1)
    suspend(a, who)
    # Written later and served after them, so that a sender has looked at theirs.
    elsewhere = [a_message(a_conversation(other)) for _ in range(3)]

    start_sender()

    assert {ended(one).status for one in elsewhere} == {"sent"}
    assert QueuedMessage.objects.filter(channel_id=channel.pk, is_ready=True, run=None).count() == 2
    restore(a, who)
    assert ended(young).status == "sent"
    assert (ended(old).status, old.error_code) == ("failed", "workspace_suspended")
    assert (
        old.error_message == "The workspace was suspended, and the message more than an hour old when it was restored."
    )
    assert (sends(meta, young), sends(meta, old)) == (1, 0)


def test_what_was_young_at_the_restoring_leaves_however_late_its_turn_comes(
    a: Tenant, channel: Channel, start_sender: StartSender
) -> None:
    message = queued(a_conversation(channel), minutes=100)
    Workspace.objects.filter(pk=a.workspace.pk).update(restored_at=database_now() - timedelta(minutes=45))

    start_sender()

    assert ended(message).status == "sent"


def test_what_was_never_suspended_leaves_at_any_age(channel: Channel, start_sender: StartSender) -> None:
    message = queued(a_conversation(channel), minutes=600)

    start_sender()

    assert ended(message).status == "sent"


@WHO
def test_restoring_takes_the_databases_clock(a: Tenant, db: None, who: str) -> None:
    suspend(a, who)
    before = database_now()
    restore(a, who)
    row = Workspace.objects.select_related("agency").get(pk=a.workspace.pk)
    restored_at = row.restored_at if who == "workspace" else row.agency.restored_at
    assert restored_at is not None
    assert before <= restored_at <= database_now()


@WHO
@pytest.mark.parametrize("source", [ConversationMessages(), AutomatedMessages(), ReadMarks()])
def test_their_channels_are_neither_ready_nor_claimed_from(
    a: Tenant, meta: RunningSandbox, channel: Channel, other: Channel, who: str, source: MessageSource
) -> None:
    for one in (channel, other):
        waiting_on(one, source)
    suspend(a, who)
    rooms = {channel.pk: 10, other.pk: 10}
    with closing(open_connection("test")) as own:
        ready = source.ready_channels(own, range(SHARDS))
        claimed = source.claim(own, run=a_run(), rooms=rooms, batch=1)
    assert [one.channel_id for one in ready] == [other.pk]
    assert [one.channel_id for one in claimed] == [other.pk]


def waiting_on(channel: Channel, source: MessageSource) -> None:
    """A message to be sent, or a conversation that was read."""
    conversation = a_conversation(channel)
    if isinstance(source, ConversationMessages):
        QueuedMessage.objects.filter(message=a_message(conversation)).update(is_automated=source.is_automated)
        return
    at = database_now()
    Message.objects.create(
        workspace_id=channel.workspace_id,
        channel_id=channel.pk,
        conversation=conversation,
        direction="in",
        status="received",
        type="text",
        provider_time=at,
        provider_message_id=f"wamid.{conversation.pk}",
    )
    Conversation.objects.filter(pk=conversation.pk).update(read_up_to=at)
    agency = channel.workspace.agency_id
    ReadMark.objects.create(conversation_id=conversation.pk, agency_id=agency, channel_id=channel.pk)


def a_run() -> int:
    at = database_now()
    return SenderRun.objects.create(number=7, started_at=at, seen_at=at).number
