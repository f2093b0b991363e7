"""Senders and dispatchers at work beside the test, a number to send from, and receivers on this machine."""

from collections.abc import Iterator

import pytest

from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.sending.conftest import channel, start_sender
from tests.config.metrics.conftest import scrape
from tests.operations.settings_starts import Complaints, reading_settings
from tests.webhooks.conftest import start_dispatcher, start_receiver

__all__ = ["channel", "meta", "provider", "scrape", "start_dispatcher", "start_receiver", "start_sender"]


@pytest.fixture(scope="module")
def complaints() -> Iterator[Complaints]:
    """What a start with some variables alone complains of; nothing where it goes well."""
    with reading_settings() as found:
        yield found
