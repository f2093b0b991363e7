"""Whoever waits for an answer waits for no broadcast, and nothing that broadcasts meet takes it away."""

from contextlib import closing

from django.utils.timezone import now

from channelconnect.models import Allowance
from config.leases.connections import open_connection
from tests.broadcasts.sending.broadcasts import counts, with_recipients
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_conversation, a_message, sends
from tests.waiting import until, wait_for_lock
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel

HOLD = "SELECT FROM channelconnect_allowance WHERE key = %s FOR UPDATE"


def test_an_answer_leaves_while_the_claim_of_a_broadcast_waits_and_when_it_fails(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=100)
    key = Allowance.objects.create(key=f"number:{channel.external_id}").key
    broadcast = with_recipients(channel, 5)
    message = a_message(a_conversation(channel), "At nine", provider_time=now())
    with closing(open_connection("test")) as own, own.transaction():
        own.execute(HOLD, [key])
        sender = start_sender()
        until(lambda: sends(meta, message), what="the answer")
        [claimer] = wait_for_lock("transactionid")
        own.execute("SELECT pg_terminate_backend(%s)", [claimer])
        sender.thread.join(60)
        assert not sender.thread.is_alive()
    assert not QueuedMessage.objects.exists()
    message.refresh_from_db()
    assert (message.status, counts(broadcast)) == ("sent", {"pending": 5})
