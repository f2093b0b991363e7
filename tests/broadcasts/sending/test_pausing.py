"""After a pause, a suspension, or the end of a broadcast, no more than what was being sent at that moment leaves."""

from contextlib import closing
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.moving import cancel_broadcast, pause_broadcast, resume_broadcast
from channelconnect.models import SenderRun
from channelconnect.sending.limits import PER_CHANNEL
from config.leases.connections import open_connection
from config.leases.runs import SHARDS
from tests.broadcasts.sending.broadcasts import (
    counts,
    has_ended,
    rows_as_counts,
    wait_until_nobody_is_claimed,
    with_recipients,
)
from tests.broadcasts.sending.test_allowance import Sending
from tests.channelconnect.sending.conftest import StartSender
from tests.rounds import wait_for_a_round
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel, Workspace

# Messages a second: what a test stops would otherwise last for half a minute.
SLOWLY = {"whatsapp": 5.0}


def sent(meta: RunningSandbox) -> int:
    return int(meta.ledger()["sent_total"])


def test_a_pause_holds_the_rest_back_and_going_on_sends_each_of_them_once(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 150)
    slow = start_sender(rates=SLOWLY)
    until(lambda: sent(meta) >= 3, what="the first messages")

    pause_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    at_once = sent(meta)
    wait_until_nobody_is_claimed()
    wait_for_a_round(SenderRun)

    assert sent(meta) - at_once <= PER_CHANNEL
    assert sent(meta) < 150
    slow.stop()
    start_sender()
    resume_broadcast(broadcast=Broadcast.objects.get(pk=broadcast.pk), now=now(), by=SYSTEM)
    until(lambda: has_ended(broadcast), what="the rest")
    assert set(meta.ledger()["sent_by_opaque"].values()) == {1}
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 150}


def time_passes(broadcast: Broadcast, hours: float) -> None:
    """Have so much time gone by, after which whoever waits for another try is due."""
    later = timedelta(hours=hours)
    Recipient.objects.of(broadcast).update(claimed_at=F("claimed_at") - later, due_at=F("due_at") - later)
    Broadcast.objects.filter(pk=broadcast.pk).update(next_due_at=now())


def waits_again(broadcast: Broadcast, *, tries: int) -> None:
    """Wait until it was tried so often."""
    waiting = Recipient.objects.of(broadcast).filter(stage=Stage.READY, status="pending", tries=tries)
    until(waiting.exists, 20, what=f"try {tries}")


@pytest.mark.usefixtures("_long_waits")
def test_a_pause_uses_up_no_tries(channel: Channel, start_sender: StartSender) -> None:
    """Nor does any other time in which nobody was about to try; the others are given up after a day."""
    broadcast, other = with_recipients(channel, 1), with_recipients(channel, 1)
    Recipient.objects.update(values=["#131016*2"])
    start_sender()
    for one in (broadcast, other):
        waits_again(one, tries=1)

    pause_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    time_passes(broadcast, 30)
    resume_broadcast(broadcast=Broadcast.objects.get(pk=broadcast.pk), now=now(), by=SYSTEM)
    waits_again(broadcast, tries=2)
    time_passes(broadcast, 1)
    until(lambda: has_ended(broadcast))
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 1}

    Recipient.objects.of(other).update(claimed_at=now() - timedelta(hours=25), due_at=now())
    Broadcast.objects.filter(pk=other.pk).update(next_due_at=now())
    until(lambda: has_ended(other))
    assert counts(other) == rows_as_counts(other) == {"failed": 1}


def test_waiting_for_room_uses_up_no_tries(channel: Channel) -> None:
    Channel.objects.filter(pk=channel.pk).update(messaging_limit=0)
    broadcast = with_recipients(channel, 1)
    Recipient.objects.of(broadcast).update(claimed_at=now() - timedelta(hours=1), tries=1)
    sending = Sending(channel)
    with closing(open_connection("test")) as own:
        assert sending.go_on(own) == 0
        assert counts(broadcast) == {"pending": 1, "held": 1}
        time_passes(broadcast, 30)
        Channel.objects.filter(pk=channel.pk).update(messaging_limit=1)
        sending.source.advance(own)
        [claimed] = sending.claim(own)
    assert now() - claimed.queued_at < timedelta(minutes=1)


def test_who_was_not_sent_to_before_it_was_cancelled_never_is(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 150)
    start_sender(rates=SLOWLY)
    until(lambda: sent(meta) >= 3, what="the first messages")

    cancel_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    at_once = sent(meta)
    wait_until_nobody_is_claimed()
    wait_for_a_round(SenderRun)

    assert sent(meta) - at_once <= PER_CHANNEL
    assert sent(meta) == Recipient.objects.filter(status="sent").count() < 150


@pytest.mark.parametrize("suspended", [Workspace, Agency])
def test_nothing_of_whom_is_suspended_is_sent_until_they_are_restored(
    channel: Channel, suspended: type[Workspace | Agency]
) -> None:
    broadcast = with_recipients(channel, 3)
    sending = Sending(channel)
    held = with_recipients(channel, 1)
    Recipient.objects.of(held).update(stage=Stage.HELD)
    add_counts({held.pk: {"held": 1}})
    with closing(open_connection("test")) as own:
        sending.source.ready_channels(own, range(SHARDS))
        suspended.objects.update(status="suspended", suspended_at=now())
        assert not sending.source.claim(own, run=sending.run, rooms={channel.pk: 7}, batch=7)

        assert sending.go_on(own) == 0
        assert not sending.source.ready_channels(own, range(SHARDS))
        assert counts(held) == {"pending": 1, "held": 1}

        suspended.objects.update(status="active", suspended_at=None)
        assert sending.go_on(own) == 4
    assert counts(broadcast) == rows_as_counts(broadcast) == {"sent": 3}
