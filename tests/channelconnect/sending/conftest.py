"""Senders at work beside the test, and a channel to send over."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from channelconnect.sending import calls
from channelconnect.sending.loop import SenderLoop
from channelconnect.sending.sources import message_sources
from config.celery import wake_up
from tests.channelconnect.sending.messages import a_channel
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS
from tools.sandbox import RunningSandbox
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel


@dataclass
class RunningSender:
    """A sender that works in a thread."""

    options: dict[str, Any] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.run = SenderLoop(**self.options)
        self.thread = threading.Thread(target=self.run.run, kwargs={"should_stop": self.stopping.is_set})
        self.thread.start()

    def stop(self) -> None:
        """Ask it to end its run in order, and wait for that."""
        self.stopping.set()
        wake_up(SENDER)
        self.thread.join(60)
        assert not self.thread.is_alive(), "the sender does not end"


StartSender = Callable[..., RunningSender]


@pytest.fixture
def start_sender(meta: RunningSandbox, transactional_db: None) -> Iterator[StartSender]:
    """Start senders; they stop with the test. Each has sources of its own, as a process has, which remember no rows."""
    started: list[RunningSender] = []

    def start(**options: Any) -> RunningSender:
        options.setdefault("sources", [type(source)() for source in message_sources])
        started.append(RunningSender(options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


LONGER = 100


@pytest.fixture
def _long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what was not accepted wait until the test has it tried again: for a hundred times as long."""
    longer = {backoff: tuple(LONGER * seconds for seconds in calls.WAITS[backoff]) for backoff in calls.WAITS}
    monkeypatch.setattr(calls, "WAITS", longer)


@pytest.fixture
def _one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call begin when the last one has ended. Calls that are under way together arrive in any order."""
    monkeypatch.setattr(calls, "BASE_CALLS", 1)
    monkeypatch.setattr(calls, "EXTRA_CALLS", 0)
    monkeypatch.setattr(calls, "SLOW_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
def channel(transactional_db: None, a: Tenant, meta: RunningSandbox) -> Channel:
    """A WhatsApp number of the customer's."""
    return a_channel(a.workspace, meta)
