"""A name server, and a domain that an agency has just added."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Domain
from agency.services import dns
from agency.services.domains import add_domain
from tests.agency.domains.dns_records import HOST, TARGET
from tests.fakes.name_server import NameServer, name_server
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def running_server() -> Iterator[NameServer]:
    with name_server() as server:
        yield server


@pytest.fixture
def server(running_server: NameServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> NameServer:
    """It may take as long as a busy machine needs for an answer, and nothing is asked a second time meanwhile."""
    for limit in ("DEADLINE_SECONDS", "TIMEOUT_SECONDS"):
        monkeypatch.setattr(dns, limit, PATIENCE_SECONDS)
    settings.DNS_SERVERS = [("127.0.0.1", running_server.port)]
    settings.DOMAIN_TARGET = TARGET
    for told in (running_server.records, running_server.faults, running_server.silent, running_server.truncated):
        told.clear()
    running_server.asked.clear()
    running_server.set(TARGET, "A", "192.0.2.7")
    return running_server


@pytest.fixture
def domain(a: Tenant) -> Domain:
    return add_domain(agency=a.agency, host=HOST, now=now(), by=SYSTEM)
