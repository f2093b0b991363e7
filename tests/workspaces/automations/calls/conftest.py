"""The sandbox as an A.I. provider, and dispatchers of outside calls at work beside the test."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connections

from config.celery import wake_up_now
from tests.config.http.receivers import LOOPBACK
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox, open_sandbox
from workspaces.automations.dispatcher.loop import CallLoop
from workspaces.automations.services.outside_calls import OUTSIDE_CALLS


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    with open_sandbox() as running:
        yield running


@pytest.fixture
def provider(sandbox: RunningSandbox, settings: Any) -> RunningSandbox:
    """The sandbox, forgetful, at an address that may be called."""
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
    sandbox.reset()
    return sandbox


@dataclass
class RunningCalls:
    """A dispatcher that works in a thread."""

    options: dict[str, Any] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            CallLoop(**self.options).run(should_stop=self.stopping.is_set)
        finally:
            connections.close_all()

    def stop(self) -> None:
        """Ask it to end its run in order, and wait for that."""
        self.stopping.set()
        wake_up_now(OUTSIDE_CALLS)
        self.thread.join(60)
        assert not self.thread.is_alive(), "the dispatcher does not end"


StartCalls = Callable[..., RunningCalls]
# Long enough for a busy machine to send a call, and short enough to wait for its end.
SHORT_MS = 3_000


@pytest.fixture
def start_calls(transactional_db: None) -> Iterator[StartCalls]:
    """Start dispatchers; they stop with the test."""
    started: list[RunningCalls] = []

    def start(**options: Any) -> RunningCalls:
        started.append(RunningCalls(options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def calls(start_calls: StartCalls, provider: RunningSandbox, a: Tenant) -> RunningCalls:
    """One dispatcher."""
    return start_calls()


@pytest.fixture
def short_calls(start_calls: StartCalls, provider: RunningSandbox, a: Tenant) -> RunningCalls:
    """One dispatcher that waits for answers that never come, 3 s each."""
    return start_calls(longest_ms=SHORT_MS)
