"""Who counts against an allowance: also in a window that is about to close, before a limit is known, after a move."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Recipient, Stage
from channelconnect.models import Allowance, AllowanceUse, ChannelCredential
from channelconnect.sending.allowance import remaining_people
from channelconnect.services.allowance_keys import MARGIN_SECONDS, carry_uses_over
from config.leases.connections import Connection, open_connection
from tests.broadcasts.sending.broadcasts import (
    a_broadcast,
    add_recipients,
    counts,
    open_window,
    people,
    rows_as_counts,
    with_recipients,
)
from tests.broadcasts.sending.test_allowance import Sending, a_number
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, a_conversation, a_message
from tests.tenants import Tenant
from tests.waiting import until, wait_for_lock
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Conversation, Message
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import change_channel_limit, disconnect_channel

pytestmark = pytest.mark.django_db(transaction=True)
BODY = {"type": "body", "parameters": [{"type": "text", "text": "Ann"}]}
TEMPLATE = {"name": "order_ready", "language": "en_US", "components": [BODY]}
# A call that is claimed now may leave after it has closed.
CLOSING = timedelta(hours=24) - timedelta(seconds=MARGIN_SECONDS / 2)


@pytest.fixture
def own() -> Iterator[Connection]:
    with closing(open_connection("test")) as opened:
        yield opened


def test_a_window_that_closes_before_the_message_may_have_left_counts_as_closed(
    channel: Channel, meta: RunningSandbox, start_sender: StartSender
) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=2)
    broadcast = a_broadcast(channel)
    contacts = people(channel, 5)
    for contact in contacts:
        open_window(channel, contact, hours_ago=CLOSING / timedelta(hours=1))
    add_recipients(broadcast, contacts)

    start_sender(rates=None)
    until(lambda: counts(broadcast) == {"sent": 2, "pending": 3, "held": 3})

    assert meta.ledger()["sent_total"] == AllowanceUse.objects.count() == 2


def test_so_does_a_conversation_s_window(channel: Channel, meta: RunningSandbox, start_sender: StartSender) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=0)
    conversation = a_conversation(channel)
    Conversation.objects.update(last_inbound_at=now() - CLOSING)
    template = a_message(conversation, "", type="template", template=TEMPLATE)
    text = a_message(a_conversation(channel))
    Conversation.objects.filter(pk=text.conversation_id).update(last_inbound_at=now() - CLOSING)

    start_sender()
    until(lambda: Message.objects.get(pk=text.pk).status == "sent", what="a text, which needs no room")
    until(lambda: Allowance.objects.filter(reserved=1).exists(), what="room that is kept for the template")

    assert Message.objects.get(pk=template.pk).status == "pending"
    assert meta.ledger()["sent_total"] == 1


def test_people_written_to_before_a_limit_is_known_count(
    channel: Channel, meta: RunningSandbox, start_sender: StartSender
) -> None:
    first = with_recipients(channel, 3)
    template = a_message(a_conversation(channel), "", type="template", template=TEMPLATE)
    start_sender(rates=None)
    until(lambda: counts(first) == {"sent": 3})
    until(lambda: Message.objects.get(pk=template.pk).status == "sent")

    change_channel_limit(channel=channel, messaging_limit=6, now=now())
    assert remaining_people(channel) == 2
    second = with_recipients(channel, 5)

    until(lambda: counts(second) == {"sent": 2, "pending": 3, "held": 3})
    assert meta.ledger()["sent_total"] == 6


def test_what_a_number_has_used_counts_where_it_moves_and_where_it_was(own: Connection) -> None:
    number, sister = (a_number(limit=10, portfolio="8001") for _ in range(2))
    with_recipients(number, 3)
    Sending(number).go_on(own)
    other = a_number(limit=10, portfolio="8002")
    with_recipients(other, 2)
    Sending(other).go_on(own)

    with transaction.atomic(), carry_uses_over(number):
        ChannelCredential.objects.filter(channel=number).update(portfolio_id="8002")

    assert [remaining_people(one) for one in (number, other, sister)] == [5, 5, 7]
    for allowance in Allowance.objects.all():
        assert allowance.used == allowance.uses.count()


def test_a_number_that_is_disconnected_keeps_what_it_has_used(a: Tenant, meta: RunningSandbox, own: Connection) -> None:
    number = a_channel(a.workspace, meta)
    ChannelCredential.objects.update(portfolio_id="8001")
    Channel.objects.filter(pk=number.pk).update(messaging_limit=10)
    with_recipients(number, 3)
    Sending(number).go_on(own)

    disconnect_channel(channel=number, now=now(), by=SYSTEM)

    number.refresh_from_db()
    assert remaining_people(number) == 7


def test_who_is_claimed_while_their_number_moves_counts_where_it_is_then(own: Connection) -> None:
    number = a_number(limit=10, portfolio="8001")
    sending = Sending(number)
    with_recipients(number, 1)
    sending.go_on(own)
    broadcast = with_recipients(number, 4)

    def claim() -> int:
        try:
            with closing(open_connection("test")) as another:
                claimed = sending.claim(another)
                sending.finish(another, claimed)
                return len(claimed)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), carry_uses_over(number):
            Allowance.objects.select_for_update().get()
            claimed = pool.submit(claim)
            wait_for_lock("transactionid")
            ChannelCredential.objects.filter(channel=number).update(portfolio_id="8002")
        assert claimed.result() == 4

    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 4}
    assert dict(Allowance.objects.values_list("key", "used")) == {"portfolio:8001": 1, "portfolio:8002": 5}
    assert not Recipient.objects.filter(stage=Stage.CLAIMED).exists()
