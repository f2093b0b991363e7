"""Dispatchers at work beside the test, receivers on this machine, and a name service that says what the test wants."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from agency.services.events import DISPATCHER
from config.celery import wake_up
from tests.config.http.receivers import Behaviour, Receiver, answer
from tests.webhooks.workspaces import declare_contact_events
from webhooks.dispatcher.loop import run_dispatcher


@dataclass
class RunningDispatcher:
    """A dispatcher that works in a thread."""

    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=run_dispatcher, kwargs={"should_stop": self.stopping.is_set})
        self.thread.start()

    def stop(self) -> None:
        """Ask it to end its run in order, and wait for that."""
        self.stopping.set()
        wake_up(DISPATCHER)
        self.thread.join(60)
        assert not self.thread.is_alive(), "the dispatcher does not end"


StartDispatcher = Callable[[], RunningDispatcher]
StartReceiver = Callable[..., Receiver]


@pytest.fixture(autouse=True)
def _reaches_this_machine(settings: Any) -> None:
    """An installation that lets webhooks reach this machine, as development does."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def start_dispatcher(transactional_db: None) -> Iterator[StartDispatcher]:
    """Start dispatchers; they stop with the test."""
    started: list[RunningDispatcher] = []

    def start() -> RunningDispatcher:
        started.append(RunningDispatcher())
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def start_receiver() -> Iterator[StartReceiver]:
    """Start receivers; they end with the test."""
    started: list[Receiver] = []

    def start(behaviour: Behaviour | None = None, **options: Any) -> Receiver:
        started.append(Receiver(behaviour or answer(), **options))
        return started[-1]

    yield start
    for receiver in started:
        receiver.close()


Names = dict[str, list[str] | OSError]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """What the operating system says of a name, instead of asking anybody outside: addresses, or a fault."""
    known: Names = {}

    def look_up(host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
        found = known[host.removesuffix(".")]
        if isinstance(found, OSError):
            raise found
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port or 0)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.fixture
def _contact_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workspaces have events, as they will have with the first app that fires one."""
    declare_contact_events(monkeypatch)
