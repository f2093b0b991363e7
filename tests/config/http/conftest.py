"""Receivers and senders that end with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from config.http.client import HTTPClient
from config.http.transfer import Limits
from tests.config.http.receivers import Behaviour, Receiver, answer

HURRIED = Limits(total_ms=8_000, connect_ms=7_900)


@pytest.fixture
def start_receiver() -> Iterator[Callable[..., Receiver]]:
    """Start receivers; they end with the test."""
    started: list[Receiver] = []

    def start(behaviour: Behaviour | None = None, **options: Any) -> Receiver:
        started.append(Receiver(behaviour or answer(), **options))
        return started[-1]

    yield start
    for receiver in started:
        receiver.close()


@pytest.fixture
def make_sender() -> Iterator[Callable[..., HTTPClient]]:
    """Make senders; they end with the test."""
    made: list[HTTPClient] = []

    def make(**options: Any) -> HTTPClient:
        made.append(HTTPClient(**options))
        return made[-1]

    yield make
    for sender in made:
        sender.close()


@pytest.fixture
def sender(make_sender: Callable[..., HTTPClient]) -> HTTPClient:
    """A sender whose limits no test reaches, however slow the machine is."""
    return make_sender(limits=Limits(total_ms=60_000, connect_ms=40_000))


@pytest.fixture
def hurried_sender(make_sender: Callable[..., HTTPClient]) -> HTTPClient:
    """A sender with limits short enough to wait for, and long enough for a receiver that answers."""
    return make_sender(limits=HURRIED)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)
