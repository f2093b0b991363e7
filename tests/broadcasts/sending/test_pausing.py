"""After a pause, or the end of a broadcast, no more than what was being sent at that moment leaves."""

import time

from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.moving import cancel_broadcast, pause_broadcast, resume_broadcast
from channelconnect.sending.limits import PER_CHANNEL
from tests.broadcasts.sending.broadcasts import counts, has_ended, rows_as_counts, with_recipients
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import until
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel


def sent(meta: RunningSandbox) -> int:
    return int(meta.ledger()["sent_total"])


def test_a_pause_holds_the_rest_back_and_going_on_sends_each_of_them_once(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 150)
    start_sender()
    until(lambda: sent(meta) >= 20)

    pause_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    at_once = sent(meta)
    until(lambda: not Recipient.objects.filter(stage=Stage.CLAIMED).exists())
    time.sleep(0.3)

    assert sent(meta) - at_once <= PER_CHANNEL
    assert sent(meta) < 150
    resume_broadcast(broadcast=Broadcast.objects.get(pk=broadcast.pk), now=now(), by=SYSTEM)
    until(lambda: has_ended(broadcast))
    assert set(meta.ledger()["sent_by_opaque"].values()) == {1}
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 150}


def test_who_was_not_sent_to_before_it_was_cancelled_never_is(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 150)
    start_sender()
    until(lambda: sent(meta) >= 20)

    cancel_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    at_once = sent(meta)
    until(lambda: not Recipient.objects.filter(stage=Stage.CLAIMED).exists())
    time.sleep(0.3)

    assert sent(meta) - at_once <= PER_CHANNEL
    assert sent(meta) == Recipient.objects.filter(status="sent").count() < 150
