"""A sender that stood still while others took over calls nothing of what it had claimed."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from channelconnect.models import SenderRun
from channelconnect.sending.loop import SenderLoop as Sender
from config.leases import runs as leased_runs
from config.leases.connections import open_connection
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_conversation, a_message, sends
from tests.processes import stopped as stopped_processes
from tests.processes.preloaded import Order, Preloaded
from tests.processes.stopped import go_on, wait_until_stopped
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel

# The others wait for less than twenty seconds here, and for longer than the stopped one may be sure of its claims.
LEASE_SECONDS = 6


@pytest.fixture
def stopping_sender(meta: RunningSandbox, transactional_db: None, preloaded: Preloaded) -> Iterator[int]:
    with preloaded.killed_at_end(Order(stopped_processes.__name__, ("sender",), meta.variables)) as pid:
        yield pid


def test_a_sender_that_was_stopped_calls_nothing_that_others_have_taken_for_failed(
    meta: RunningSandbox,
    channel: Channel,
    stopping_sender: int,
    start_sender: StartSender,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages = [a_message(a_conversation(channel)) for _ in range(3)]
    wait_until_stopped(stopping_sender)
    stopped = SenderRun.objects.get().number
    claimed = set(QueuedMessage.objects.filter(run=stopped).values_list("message_id", flat=True))
    assert claimed
    monkeypatch.setattr(leased_runs, "LEASE_SECONDS", LEASE_SECONDS)
    other = start_sender()
    unknown = QueuedMessage.objects.filter(is_unknown=True, message_id__in=claimed)
    until(lambda: unknown.count() == len(claimed), what="the others to take over")

    go_on(stopping_sender)

    known = [stopped, other.run.number]
    until(SenderRun.objects.exclude(number__in=known).exists, what="the next run of the one that was stopped")
    assert [sends(meta, one) for one in messages if one.pk in claimed] == [0] * len(claimed)
    assert unknown.count() == len(claimed)


@pytest.mark.usefixtures("transactional_db", "meta")
def test_a_machine_that_slept_makes_a_sender_unsure_of_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monotonic clock stands still then; the one that goes on is moved on here."""
    slept, real = [0.0], time.clock_gettime
    monkeypatch.setattr(
        time, "clock_gettime", lambda clock: real(clock) + (slept[0] if clock == time.CLOCK_BOOTTIME else 0.0)
    )
    sender = Sender()
    with closing(open_connection("a sender")) as connection, closing(sender.http):
        sender.claimer.on_connect(connection)
        assert sender.claimer.is_sure
        slept[0] = leased_runs.LEASE_SECONDS
        assert not sender.claimer.is_sure
