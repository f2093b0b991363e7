"""What the tests of pages share."""

from collections.abc import Iterator

import pytest

from tests.database.emptying import forget_counters


@pytest.fixture
def counters_forgotten() -> Iterator[None]:
    """Forget the calls before and after a test: all come from this machine, which may send only so many a minute."""
    forget_counters()
    yield
    forget_counters()
