"""A second dispatcher, which a test moves step by step; a provider and senders, for topics that sending fires."""

from collections.abc import Iterator
from typing import Any

import pytest

from config.http import client
from config.http.transfer import Limits
from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.sending.conftest import start_sender
from tests.config.http.receivers import LONG_SECONDS
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher
from webhooks.dispatcher import loop
from webhooks.dispatcher.loop import Dispatcher

__all__ = ["meta", "other", "provider", "start_sender"]


@pytest.fixture
def _patient_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts that go on until their receiver ends: whoever waits for one that hangs waits for longer than a test."""
    patient = Limits(total_ms=LONG_SECONDS * 1_000, connect_ms=LONG_SECONDS * 1_000)
    monkeypatch.setattr(client, "Limits", lambda: patient)
    monkeypatch.setattr(loop, "LAST_ATTEMPTS_SECONDS", float(LONG_SECONDS))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Dispatcher]:
    """The runs that dispatchers begin, the last one last."""
    begun: list[Dispatcher] = []

    class KeptDispatcher(Dispatcher):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            begun.append(self)

    monkeypatch.setattr(loop, "Dispatcher", KeptDispatcher)
    return begun


@pytest.fixture
def other(transactional_db: None) -> Iterator[OtherDispatcher]:
    dispatcher = OtherDispatcher()
    yield dispatcher
    dispatcher.connection.close()
