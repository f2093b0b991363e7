"""A sender that can send nothing now uses next to no processor time until it can."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.test import override_settings
from django.utils.timezone import now

from benchmarks.processes import fast_provider
from broadcasts.models import Recipient, Stage
from broadcasts.sending.source import OVERDUE_BATCH, BroadcastRecipients, fail_overdue
from channelconnect.sending import loop
from channelconnect.sending.sources import MessageResult
from config.leases.connections import Connection, open_connection
from tests.broadcasts.sending.broadcasts import with_recipients
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.masses import Mass
from tests.waiting import until
from workspaces.subaccounts.models import Channel

WATCHED_SECONDS, MOST_SHARE = 0.5, 0.15
LOCK = "SELECT FROM broadcasts_recipient WHERE broadcast_id = %s FOR UPDATE"


class LaggingMass(Mass):
    """A mass whose results cannot be recorded for now."""

    def __init__(self, channels: Sequence[Channel], each: int) -> None:
        super().__init__(channels, each)
        self.goes_on = Event()

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        self.goes_on.wait(60)
        return super().record(connection, run=run, results=results)


def used_share(threads: Sequence[Thread]) -> float:
    """Which share of a processor these threads use for a while."""
    clocks = [time.pthread_getcpuclockid(thread.ident or 0) for thread in threads]
    before, began = sum(map(time.clock_gettime, clocks)), time.monotonic()
    time.sleep(WATCHED_SECONDS)
    return (sum(map(time.clock_gettime, clocks)) - before) / (time.monotonic() - began)


def threads_of(sender: Any) -> list[Thread]:
    return [sender.thread, sender.run.claimer.thread, sender.run.recorder.thread]


def test_it_waits_for_recipients_that_somebody_else_has_locked(channel: Channel, start_sender: StartSender) -> None:
    broadcast = with_recipients(channel, 20)
    with closing(open_connection("test")) as other:
        with other.transaction():
            other.execute(LOCK, [broadcast.pk])
            sender = start_sender(sources=[BroadcastRecipients()])
            until(lambda: sender.run.claimer.shards.held and sender.run.claimer.found_nothing)
            assert used_share(threads_of(sender)) < MOST_SHARE
            assert not Recipient.objects.of(broadcast).filter(status="sent").exists()
        until(lambda: Recipient.objects.of(broadcast).filter(status="sent").count() == 20)


def test_it_waits_for_a_record_that_lags_behind(
    channel: Channel, start_sender: StartSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "MOST_UNRECORDED", 50)
    mass = LaggingMass([channel], 1_000)
    with fast_provider() as url, override_settings(META_GRAPH_URL=url):
        sender = start_sender(sources=[mass], rates=None)
        lags: Callable[[], bool] = lambda: sender.run.recorder.backlog >= 50 and not sender.run.calls.in_flight  # noqa: E731
        try:
            until(lags)
            assert sender.run.calls.waiting
            assert used_share(threads_of(sender)) < MOST_SHARE
        finally:
            mass.goes_on.set()
        until(lambda: mass.recorded == 1_000)


def test_however_many_are_unknown_for_too_long_they_end_batch_by_batch(channel: Channel) -> None:
    """Those who can be sent to wait for one batch at most."""
    broadcast = with_recipients(channel, 2 * OVERDUE_BATCH + 1)
    Recipient.objects.update(stage=Stage.UNKNOWN, due_at=now() - timedelta(minutes=1))
    failed = Recipient.objects.of(broadcast).filter(status="failed")

    fail_overdue(seconds=0.0)
    assert failed.count() == OVERDUE_BATCH
    fail_overdue(seconds=60.0)
    assert failed.count() == 2 * OVERDUE_BATCH + 1
