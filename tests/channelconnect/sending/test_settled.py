"""What the network has reported is not sent again, though its answer to the call said that it was not taken."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils.timezone import now

from broadcasts.models.recipients import Stage, callback_data_of
from broadcasts.services.statuses import record_statuses
from channelconnect.providers.message_results import THROTTLED, CallResult, Outcome
from channelconnect.providers.messages import OutgoingMessage, Recipient
from channelconnect.sending.conversations import ConversationMessages
from channelconnect.sending.sources import ClaimedMessage, MessageResult
from config.leases.connections import open_connection
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, people
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, a_conversation, a_message, ended, make_due, put_off, sends
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until
from tests.workspaces.conversations.facts import apply, echo, status
from tools.sandbox import RunningSandbox
from workspaces.conversations.facts import Person
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.conversations.services import inbound
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.usefixtures("_long_waits")


def tell(message: Message, channel: Channel, name: str, **more: Any) -> None:
    """Have the network report a message that it names by our id."""
    person = Person(external_id="491701234567")
    told = status(channel, f"wamid.{message.pk}", name, opaque=str(message.uuid), person=person, **more)
    assert apply(inbound.apply_statuses, told) == []


def echo_of(message: Message, channel: Channel) -> None:
    told = echo(channel, message_id=f"mid.{message.pk}", opaque=str(message.uuid), person=Person(external_id="91"))
    assert apply(inbound.record_echoes, told) == 0


def test_a_status_ends_a_message_that_waits_for_another_try(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    conversations = {name: a_conversation(channel) for name in ("sent", "delivered", "read", "failed")}
    messages = {name: a_message(one, "Hi #429 #none") for name, one in conversations.items()}
    next_ones = [a_message(one, "And another") for one in conversations.values()]
    start_sender()
    for name, message in messages.items():
        put_off(message)

        tell(message, channel, name, error_code="131026")

        assert not QueuedMessage.objects.filter(message=message).exists()
    assert [ended(one).status for one in next_ones] == ["sent"] * 4
    for name, message in messages.items():
        assert (ended(message).status, sends(meta, message)) == (name, 1)


def test_an_echo_ends_a_message_that_waits_for_another_try(
    a: Tenant, meta: RunningSandbox, start_sender: StartSender
) -> None:
    channel = a_channel(a.workspace, meta, platform="facebook")
    message = a_message(a_conversation(channel), "Hi #429 #none")
    start_sender()
    put_off(message)

    echo_of(message, channel)

    assert not QueuedMessage.objects.filter(message=message).exists()
    assert ended(message).status == "sent"
    assert sends(meta, message) == 1


def test_a_message_that_is_found_settled_when_it_is_due_is_not_called(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    """The reader of statuses waits for nobody who holds the row at that moment."""
    message = a_message(a_conversation(channel), "Hi #429 #none")
    start_sender()
    put_off(message)
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        QueuedMessage.objects.select_for_update().get(message=message)
        pool.submit(in_thread, lambda: tell(message, channel, "delivered")).result(PATIENCE_SECONDS)
    assert QueuedMessage.objects.filter(message=message).exists()

    make_due(message)

    until(lambda: not QueuedMessage.objects.exists())
    assert (ended(message).status, sends(meta, message)) == ("delivered", 1)


def in_thread(work: Callable[[], None]) -> None:
    try:
        work()
    finally:
        connections.close_all()


def test_an_answer_that_is_recorded_after_the_status_puts_nothing_off(channel: Channel) -> None:
    """What waits behind it in its conversation goes at once."""
    message = a_message(a_conversation(channel), "Hi")
    QueuedMessage.objects.update(run=7, is_ready=False)
    tell(message, channel, "delivered")
    assert QueuedMessage.objects.exists()
    to = OutgoingMessage(opaque=str(message.uuid), to=Recipient("491701234567"), type="text", text="Hi")
    row = ClaimedMessage("conversations", message.pk, 1, channel.pk, None, 0, now(), to)
    outcome = Outcome(CallResult.RETRY, error=THROTTLED)

    with closing(open_connection("test")) as own:
        result = MessageResult(row, outcome, now().timestamp(), 5.0)
        kept = ConversationMessages().record(own, run=7, results=[result])

    assert (kept, QueuedMessage.objects.count()) == (1, 0)


def test_a_broadcasts_recipient_that_waits_for_another_try_is_ended_too(channel: Channel) -> None:
    [row] = add_recipients(broadcast := a_broadcast(channel), people(channel, 1))
    told = status(channel, "wamid.1", "delivered", opaque=callback_data_of(broadcast.pk, row.contact_id))

    with transaction.atomic():
        record_statuses([told], now=now())

    row.refresh_from_db()
    assert (row.status, row.stage) == ("delivered", Stage.DONE)
