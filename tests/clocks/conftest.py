"""A clock that is moved on, and a provider whose numbers are sent from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.channelconnect.conftest import meta, provider
from tests.clocks.moved import MovedClock
from tests.processes.broker import forget_calls
from tests.processes.preloaded import Preloaded

__all__ = ["meta", "provider"]


@pytest.fixture
def clock(transactional_db: None, tmp_path: Path, preloaded: Preloaded) -> Iterator[MovedClock]:
    """Everybody's clock; processes that are started with it end with the test."""
    forget_calls()
    with MovedClock(tmp_path, preloaded) as moved:
        yield moved
    forget_calls()
