"""What the tests of pages share."""

from collections.abc import Iterator

import pytest

from tests.database.emptying import forget_counters


@pytest.fixture
def counters_forgotten() -> Iterator[None]:
    """So many calls come from this machine that others would find its limit reached."""
    yield
    forget_counters()
