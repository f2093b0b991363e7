"""Senders that are killed send nothing twice and lose nothing: what they had out is unknown, and ends as that."""

import os
import signal
from functools import partial
from typing import Final

from django.db.models import Count
from django.utils.timezone import now

from channelconnect.models import SenderRun
from tests.channelconnect.sending.messages import a_channel, many_conversations, many_messages, until
from tests.own_processes import start, stop, variables
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.subaccounts.models import Channel

KILLS: Final = 3
SENDER: Final = """
import django
django.setup()
from channelconnect.sending.loop import run_sender
run_sender(should_stop=lambda: False)
"""


def _has_sent(meta: RunningSandbox, total: int) -> bool:
    return bool(meta.ledger()["sent_total"] >= total)


def test_nothing_is_sent_twice_and_nothing_is_lost(a: Tenant, meta: RunningSandbox, channel: Channel) -> None:
    # Each tenth call is accepted and not answered, so that every kill finds some of which nobody knows.
    meta.play(faults=[{"call": "send", "fault": "accept_then_hang", "every": 10, "seconds": 120}])
    other = a_channel(a.workspace, meta, external_id="4010001")
    many_messages(many_conversations(channel, 100) + many_conversations(other, 100), each=2)
    environment = {**variables(), **meta.variables, "DJANGO_SETTINGS_MODULE": "config.settings"}

    for kill in range(1, KILLS + 1):
        sender = start(("-c", SENDER), environment)
        try:
            until(partial(_has_sent, meta, kill * 60), 60)
        finally:
            os.killpg(sender.pid, signal.SIGKILL)
            sender.wait()
    meta.play()
    sender = start(("-c", SENDER), environment)
    try:
        until(lambda: not QueuedMessage.objects.filter(is_unknown=False).exists(), 60)
        assert SenderRun.objects.count() == 1
        unknown = set(QueuedMessage.objects.values_list("message__uuid", flat=True))
        QueuedMessage.objects.update(due_at=now())
        until(lambda: not QueuedMessage.objects.exists(), 30)
    finally:
        stop(sender)

    accepted = meta.ledger()["sent_by_opaque"]
    assert max(accepted.values()) == 1
    ends = {row["status"]: row["total"] for row in Message.objects.values("status").annotate(total=Count("pk"))}
    assert set(ends) == {"sent", "failed"}
    assert ends["failed"] == len(unknown) > KILLS
    failed = Message.objects.filter(status="failed")
    assert set(failed.values_list("error_code", flat=True)) == {"send_outcome_unknown"}
    sent = set(map(str, Message.objects.filter(status="sent").values_list("uuid", flat=True)))
    assert sent <= set(accepted)
    assert set(accepted) - sent <= set(map(str, unknown))
