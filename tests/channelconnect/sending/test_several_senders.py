"""Several senders, and senders that lose their database, send everything once."""

import threading
from collections import Counter
from functools import partial

from channelconnect.sending.loop import run_sender
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, many_conversations, many_messages
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.delivering import cut_connections
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.subaccounts.models import Channel


def accepted_once(meta: RunningSandbox) -> Counter[str]:
    found = Counter(meta.ledger()["sent_by_opaque"])
    assert not found or max(found.values()) == 1
    return found


def has_sent(meta: RunningSandbox, total: int) -> bool:
    return bool(meta.ledger()["sent_total"] > total)


def test_two_senders_share_the_channels(
    a: Tenant, meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    other = a_channel(a.workspace, meta, external_id="4010001")
    many_messages(many_conversations(channel, 80) + many_conversations(other, 80), each=2)

    first, second = start_sender(), start_sender()
    until(lambda: meta.ledger()["sent_total"] > 60)
    first.stop()

    until(lambda: not QueuedMessage.objects.exists())
    assert second.thread.is_alive()
    assert accepted_once(meta).total() == 320
    assert set(Message.objects.values_list("status", flat=True)) == {"sent"}


def test_a_sender_whose_connections_are_cut_goes_on_in_a_new_run(
    meta: RunningSandbox, channel: Channel, transactional_db: None
) -> None:
    many_messages(many_conversations(channel, 150), each=2)
    stopping = threading.Event()
    sender = threading.Thread(target=run_sender, kwargs={"should_stop": stopping.is_set})
    sender.start()
    try:
        for share in (40, 120):
            until(partial(has_sent, meta, share))
            until(lambda: cut_connections("sender%"), what="connections to cut")
        until(lambda: not QueuedMessage.objects.filter(is_unknown=False).exists(), 60)
    finally:
        stopping.set()
        sender.join(60)
    assert not sender.is_alive()
    sent = accepted_once(meta).total()
    unknown = QueuedMessage.objects.count()
    assert sent + unknown >= 300
    assert Message.objects.filter(status="sent").count() == 300 - unknown
