"""What the tests of pages share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections

from tests.database.emptying import forget_counters


@pytest.fixture
def counters_forgotten() -> Iterator[None]:
    """Forget the calls before and after a test: all come from this machine, which may send only so many a minute."""
    forget_counters()
    yield
    forget_counters()


@pytest.fixture
def one_thread_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let one thread of the live server answer every call, because it keeps its connection to the database.

    Django's live server starts a thread for each connection of a client, and curl opens one for each call. Each such
    thread connects to PostgreSQL anew, and that session reads the definition of every table again that it uses.
    """
    product = WSGIHandler.__call__

    def answered(handler: WSGIHandler, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        response = product(handler, environ, start_response)
        try:
            return [b"".join(response)]
        finally:
            response.close()

    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(WSGIHandler, "__call__", lambda *given: pool.submit(answered, *given).result())
        yield
        pool.submit(connections.close_all).result()
