"""Senders that are killed send nothing twice and lose nothing: what they had out is unknown, and ends as that."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import pytest
from django.db import connection
from django.db.models import Count
from django.utils.timezone import now

from channelconnect.models import SenderRun
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.killed_sending import killed_sender
from tests.channelconnect.sending.messages import a_channel, many_conversations, many_messages
from tests.processes.forked_celery import celery_order
from tests.processes.preloaded import Preloaded
from tests.sizes import size
from tests.tenants import Tenant
from tests.tools.local.processes import children_of
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.subaccounts.models import Channel

EACH: Final = size("workers", "messages of each number")
# Sends what a sender that died had claimed again, as a queue of tasks does.
REQUEUE: Final = """
CREATE FUNCTION requeue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.is_unknown := false; NEW.is_ready := true; NEW.run := NULL; RETURN NEW; END $$;
CREATE TRIGGER requeue BEFORE UPDATE ON conversations_queuedmessage FOR EACH ROW
    WHEN (NEW.is_unknown AND NOT OLD.is_unknown ) EXECUTE FUNCTION requeue()
"""


def _has_sent(meta: RunningSandbox, total: int) -> bool:
    return bool(meta.ledger()["sent_total"] >= total)


@pytest.fixture
def two_numbers(a: Tenant, meta: RunningSandbox, channel: Channel) -> list[Channel]:
    """With messages. Some calls are accepted and not answered, so that every kill finds some in doubt."""
    meta.play(faults=[{"call": "send", "fault": "accept_then_hang", "every": EACH // 6, "seconds": 120}])
    numbers = [channel, a_channel(a.workspace, meta, external_id="4010001")]
    many_messages([person for number in numbers for person in many_conversations(number, EACH // 2)], each=2)
    return numbers


def _kill_twice(preloaded: Preloaded, meta: RunningSandbox) -> None:
    """Kill the process of a Celery worker that sends, and then the whole worker with the next one."""
    with preloaded.killed_at_end(celery_order("sender", meta.variables, number=1)) as worker:
        until(partial(_has_sent, meta, EACH // 3), 60)
        for pid in children_of(worker):
            os.kill(pid, signal.SIGKILL)
        until(partial(_has_sent, meta, 2 * EACH // 3), 60)
    meta.play()


@pytest.mark.usefixtures("two_numbers")
def test_nothing_is_sent_twice_and_nothing_is_lost(
    meta: RunningSandbox, start_sender: StartSender, preloaded: Preloaded
) -> None:
    _kill_twice(preloaded, meta)
    start_sender()
    until(lambda: not QueuedMessage.objects.filter(is_unknown=False).exists(), 60)
    until(lambda: SenderRun.objects.count() == 1, what="the killed ones to be forgotten")
    unknown = set(QueuedMessage.objects.values_list("message__uuid", flat=True))
    QueuedMessage.objects.update(due_at=now())
    until(lambda: not QueuedMessage.objects.exists(), 60)

    accepted = meta.ledger()["sent_by_opaque"]
    assert max(accepted.values()) == 1
    ends = {row["status"]: row["total"] for row in Message.objects.values("status").annotate(total=Count("pk"))}
    assert set(ends) == {"sent", "failed"}
    assert ends["failed"] == len(unknown) > 2
    failed = Message.objects.filter(status="failed")
    assert set(failed.values_list("error_code", flat=True)) == {"send_outcome_unknown"}
    sent = set(map(str, Message.objects.filter(status="sent").values_list("uuid", flat=True)))
    assert sent <= set(accepted)
    assert set(accepted) - sent <= set(map(str, unknown))


@contextmanager
def _requeueing() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(REQUEUE)
        try:
            yield
        finally:
            cursor.execute("DROP FUNCTION requeue CASCADE")


@pytest.mark.usefixtures("two_numbers")
def test_a_sender_that_sends_again_what_a_dead_one_had_is_found_out(
    meta: RunningSandbox, start_sender: StartSender, preloaded: Preloaded
) -> None:
    """What the test above is worth: with such a sender the provider gets messages twice."""
    with _requeueing():
        with killed_sender(preloaded, meta):
            until(partial(_has_sent, meta, EACH // 3), 60)
        meta.play()
        sender = start_sender()
        until(lambda: not QueuedMessage.objects.filter(is_unknown=False).exists(), 60)
        sender.stop()
    accepted = meta.ledger()["sent_by_opaque"]
    assert max(accepted.values()) > 1
