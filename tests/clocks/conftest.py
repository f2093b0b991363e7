"""A clock that is moved on, and a provider whose numbers are sent from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.channelconnect.conftest import meta, provider
from tests.clocks.moved import MovedClock
from tests.processes.broker import forget_calls

__all__ = ["meta", "provider"]


@pytest.fixture
def clock(transactional_db: None, tmp_path: Path) -> Iterator[MovedClock]:
    """Everybody's clock; processes that are started with it end with the test."""
    forget_calls()
    with MovedClock(tmp_path) as moved:
        yield moved
    forget_calls()
