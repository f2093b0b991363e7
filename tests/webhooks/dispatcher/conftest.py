"""A second dispatcher, which a test moves step by step; a provider and senders, for topics that sending fires."""

from collections.abc import Iterator

import pytest

from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.sending.conftest import start_sender
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher

__all__ = ["meta", "other", "provider", "start_sender"]


@pytest.fixture
def other(transactional_db: None) -> Iterator[OtherDispatcher]:
    dispatcher = OtherDispatcher()
    yield dispatcher
    dispatcher.connection.close()
