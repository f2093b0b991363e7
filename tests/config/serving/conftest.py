"""One server for all tests of the folder that a worker runs: each begins with it as it was started."""

from collections.abc import Iterator

import pytest

from tests.config.serving.web import Web, running_web
from tests.waiting import until

PAGES = "tests.config.serving.pages:application"


@pytest.fixture(scope="session")
def running_pages() -> Iterator[Web]:
    with running_web(PAGES) as running:
        yield running


@pytest.fixture
def web(running_pages: Web) -> Iterator[Web]:
    """The server, without anybody's connections; its limits are the product's again when the test has ended."""
    until(lambda: running_pages.get("/listeners").json["open"] == 0, what="earlier listeners to be forgotten")
    yield running_pages
    running_pages.close_connections()
    assert running_pages.get("/limits").status == 200
