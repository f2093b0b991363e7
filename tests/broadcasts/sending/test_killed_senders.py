"""Senders that are killed send to nobody twice and forget nobody: a status settles it, or it ends visibly."""

import json
from collections.abc import Sequence
from contextlib import ExitStack, closing, nullcontext
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.models.recipients import callback_data_of
from broadcasts.sending.claims import NAME
from broadcasts.sending.source import BroadcastRecipients
from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import SenderRun
from channelconnect.providers.message_results import Outcome, error_of
from channelconnect.sending.recorder import MessageRecorder
from channelconnect.sending.sources import MessageResult
from config.leases.connections import Connection, open_connection
from tests.broadcasts.sending.broadcasts import counts, rows_as_counts, with_recipients
from tests.broadcasts.sending.freed import claimed_by_the_dead, clicked_while_freed
from tests.broadcasts.sending.test_allowance import Sending
from tests.channelconnect.inbox.notices import of_number
from tests.channelconnect.sending.conftest import RunningSender, StartSender
from tests.channelconnect.sending.killed_sending import killed_sender
from tests.channelconnect.sending.messages import a_channel
from tests.processes.preloaded import Preloaded
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel

KILLS: Final = size("workers", "killed senders")
EACH: Final = size("workers", "recipients of each number")


def _has_sent(meta: RunningSandbox, total: int) -> bool:
    return bool(meta.ledger()["sent_total"] >= total)


def _opaque(**asked: Any) -> set[str]:
    return {callback_data_of(*key) for key in Recipient.objects.filter(**asked).values_list("pk", flat=True)}


def _tell_sent(meta: RunningSandbox, opaque: set[str]) -> None:
    """Have the provider's statuses come for these."""
    told: dict[str, list[dict[str, Any]]] = {}
    for one in meta.ledger()["sent"]:
        if one["opaque"] in opaque:
            status = {"id": one["message_id"], "status": "sent", "timestamp": "1790000000"}
            person = {"recipient_id": one["to"].removeprefix("+"), "biz_opaque_callback_data": one["opaque"]}
            told.setdefault(one["account"], []).append(status | person)
    for account, statuses in told.items():
        store_notice(body=json.dumps(json.loads(of_number(number=account, statuses=statuses))).encode())
    read_waiting()


def test_nobody_is_sent_to_twice_and_nobody_is_forgotten(
    a: Tenant, meta: RunningSandbox, channel: Channel, preloaded: Preloaded
) -> None:
    # Some calls are accepted and not answered, so that every kill finds some of which nobody knows.
    meta.play(faults=[{"call": "send", "fault": "accept_then_hang", "every": EACH // 9, "seconds": 120}])
    broadcasts = [with_recipients(one, EACH) for one in (channel, a_channel(a.workspace, meta, external_id="4010001"))]

    for number in range(1, KILLS + 1):
        with ExitStack() as sending:
            with clicked_while_freed(claimed_by_the_dead()) if number > 1 else nullcontext():
                sending.enter_context(killed_sender(preloaded, meta))
            until(partial(_has_sent, meta, number * EACH // 2), 60)
    meta.play()
    with clicked_while_freed(claimed_by_the_dead()):
        last = RunningSender()
    try:
        until(lambda: not Recipient.objects.filter(stage__in=(Stage.READY, Stage.CLAIMED)).exists(), 60)
        until(lambda: SenderRun.objects.count() == 1, what="the killed ones to be forgotten")
        unknown = {
            callback_data_of(*key) for key in Recipient.objects.filter(stage=Stage.UNKNOWN).values_list("pk", flat=True)
        }
        accepted = meta.ledger()["sent_by_opaque"]
        known = sorted(unknown & set(accepted))
        _tell_sent(meta, set(known[::2]))
        Recipient.objects.filter(stage=Stage.UNKNOWN).update(due_at=now())
        until(lambda: not Recipient.objects.exclude(stage=Stage.DONE).exists())
        # Whether more is to come is looked up once what is done has been recorded.
        until(lambda: not Broadcast.objects.exclude(next_due_at=None).exists())
    finally:
        last.stop()

    assert max(accepted.values()) == 1
    failed = Recipient.objects.filter(status="failed")
    assert set(failed.values_list("error_code", flat=True)) == {"send_outcome_unknown"}
    sent = _opaque(status="sent")
    assert len(known) > KILLS
    assert failed.count() == len(unknown) - len(known[::2])
    assert sent <= set(accepted)
    assert len(sent) + failed.count() == 2 * EACH
    assert set(known[::2]) <= sent
    for broadcast in broadcasts:
        broadcast.refresh_from_db()
        assert counts(broadcast) == rows_as_counts(broadcast)
        assert (broadcast.status, broadcast.next_due_at) == (Broadcast.Status.SENDING, None)


def test_a_click_while_a_dead_run_is_freed_keeps_no_recipient_claimed(
    channel: Channel, start_sender: StartSender
) -> None:
    broadcast, dead = with_recipients(channel, 5), 7
    SenderRun.objects.create(number=dead, started_at=now(), seen_at=now() - timedelta(minutes=1))
    Recipient.objects.of(broadcast).update(stage=Stage.CLAIMED, run=dead, claimed_at=now())

    with clicked_while_freed(claimed_by_the_dead()[:3]):
        start_sender()
    until(lambda: not SenderRun.objects.filter(number=dead).exists(), what="the dead one to be forgotten")

    assert Recipient.objects.of(broadcast).filter(stage=Stage.UNKNOWN, run=dead).count() == 5
    assert counts(broadcast) == rows_as_counts(broadcast) == {"pending": 5, "clicked": 3}


class Killed(BroadcastRecipients):
    """A source whose process ends as soon as its results are kept."""

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        super().record(connection, run=run, results=results)
        raise KeyboardInterrupt


@pytest.mark.parametrize(("code", "lost"), [(131050, False), (190, True)])
def test_what_follows_from_a_result_is_kept_before_the_result_is(channel: Channel, code: int, lost: bool) -> None:
    with_recipients(channel, 1)
    sending = Sending(channel)
    error = error_of(code)
    with closing(open_connection("test")) as own:
        [claimed] = sending.claim(own)
        recorder = MessageRecorder(sending.run, {NAME: Killed()}, lambda: None)
        with pytest.raises(KeyboardInterrupt):
            recorder.record(own, [MessageResult(claimed, Outcome(error.result, error=error), now().timestamp())])

    channel.refresh_from_db()
    assert (channel.status == Channel.Status.ERROR) is lost
    assert Contact.objects.filter(marketing_opted_out_at__isnull=False).exists() is not lost
