"""Couriers at work beside the test, receivers on this machine, and a name service that says what the test wants."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from agency.services.events import COURIER_BELL
from config.celery import ring
from tests.webhooks.transport.receivers import Behaviour, Receiver, answer
from webhooks.courier.shift import work


@dataclass
class Hired:
    """A courier that works in a thread."""

    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=work, kwargs={"should_stop": self.stopping.is_set})
        self.thread.start()

    def leave(self) -> None:
        """Ask it to end its shift in order, and wait for that."""
        self.stopping.set()
        ring(COURIER_BELL)
        self.thread.join(20)
        assert not self.thread.is_alive(), "the courier does not end its shift"


Hire = Callable[[], Hired]
Receive = Callable[..., Receiver]


@pytest.fixture(autouse=True)
def _reaches_this_machine(settings: Any) -> None:
    """An installation that lets webhooks reach this machine, as development does."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def hire(transactional_db: None) -> Iterator[Hire]:
    """Put couriers to work; they leave with the test."""
    at_work: list[Hired] = []

    def start() -> Hired:
        at_work.append(Hired())
        return at_work[-1]

    yield start
    for one in at_work:
        one.leave()


@pytest.fixture
def receive() -> Iterator[Receive]:
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
