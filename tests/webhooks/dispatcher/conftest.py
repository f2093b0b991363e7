"""A second dispatcher, which a test moves step by step."""

from collections.abc import Iterator

import pytest

from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher


@pytest.fixture
def other(transactional_db: None) -> Iterator[OtherDispatcher]:
    dispatcher = OtherDispatcher()
    yield dispatcher
    dispatcher.connection.close()
