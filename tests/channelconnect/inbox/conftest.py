"""An inbox whose facts are applied by handlers of the tests, so that what is read can be seen alone."""

from collections.abc import Iterator

import pytest
from django.db import connection

from tests.channelconnect.inbox.applying import CREATE, DROP


@pytest.fixture
def applied(db: None) -> Iterator[None]:
    """The table into which the handlers write."""
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
    yield
    with connection.cursor() as cursor:
        cursor.execute(DROP)
