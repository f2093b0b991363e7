"""A server that is trusted, and reached on loopback."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.agency.mail_servers import trusting
from tests.fakes.smtp_server import Authority, SmtpServer, smtp_server


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def _trusted(authority: Authority, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with trusting(authority, settings, monkeypatch):
        yield


@pytest.fixture
def server(authority: Authority) -> Iterator[SmtpServer]:
    with smtp_server(authority) as running:
        yield running
