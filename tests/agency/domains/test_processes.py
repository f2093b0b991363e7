"""Two web servers, one of them without Redis: a change in a third process is seen by both, whatever gets lost."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Domain
from agency.services import hosts
from agency.services.dns import HostRecords
from agency.services.domains import DomainListed, add_domain, make_primary, record_check, remove_domain
from agency.services.hosts import HostCache
from tests.config.serving.web import Web, running_web
from tests.factories import DomainFactory
from tests.parallel import at_once
from tests.processes import own_processes
from tests.tenants import Tenant
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

HOST, SECOND = "app.ada.example.com", "app.second.example.com"
# With it a process reads by itself so seldom that a test sees only what it was told.
APPLICATION = "tests.agency.domains.listening_alone:application"
# Those that end as they should may still be here for a moment.
LISTENERS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = %s
"""


@pytest.fixture
def servers() -> Iterator[list[Web]]:
    """As they are outside of tests: they hear of changes."""
    variables = {**own_processes.variables(), "ENVIRONMENT": "development"}
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_web(APPLICATION, {**variables, **more}))
            for more in ({}, {"REDIS_URL": "redis://127.0.0.1:9/0"})
        ]


def status(web: Web, host: str) -> int:
    request = f"GET /account/sign-in HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    return web.talk(request.encode()).status


def allowed(web: Web, host: str) -> int:
    return web.get(f"/internal/tls-allowed?domain={host}").status


def end_listeners() -> int:
    """End the sessions of all listeners at the database, and give their number."""
    with connection.cursor() as cursor:
        cursor.execute(LISTENERS, [hosts.DomainListener.name])
        [number] = cursor.fetchone()
    return int(number)


def wait_until_all_answer(servers: list[Web], host: str, expected: int) -> None:
    until(lambda: {status(web, host) for web in servers} == {expected}, what=f"{expected} of all servers")


def test_every_process_follows_a_change_at_once(servers: list[Web]) -> None:
    assert {status(web, HOST) for web in servers} == {404}
    domain = DomainFactory.create(host=HOST)
    wait_until_all_answer(servers, HOST, 200)
    assert {allowed(web, HOST) for web in servers} == {200}
    other = DomainFactory.create(agency=domain.agency, host=SECOND)
    make_primary(domain=other, by=SYSTEM)
    remove_domain(domain=domain, by=SYSTEM)
    wait_until_all_answer(servers, HOST, 404)
    assert [(status(web, SECOND), allowed(web, HOST)) for web in servers] == [(200, 404)] * 2

    assert end_listeners() >= len(servers)
    remove_domain(domain=other, by=SYSTEM)
    wait_until_all_answer(servers, SECOND, 404)


def test_a_change_without_a_notification_is_found_by_the_next_read(
    monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    monkeypatch.setattr(hosts, "REREAD_SECONDS", 0.2)
    cache = HostCache()
    domain = DomainFactory.create(host=HOST)
    cache._listen()
    listener = cache._listener
    assert listener
    try:
        until(lambda: cache.hosts.agencies == {HOST: domain.agency_id}, what="the host")
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            Domain.objects.all().delete()
            cursor.execute("RESET session_replication_role")
        until(lambda: not cache.hosts.agencies, what="the host to be gone")
    finally:
        listener.stopping.set()
        listener.thread.join(60)


def test_of_many_at_once_one_adds_a_host_and_one_gets_it(a: Tenant, b: Tenant) -> None:
    def add(_: int) -> str:
        try:
            return add_domain(agency=a.agency, host=HOST, now=now(), by=SYSTEM).host
        except DomainListed:
            return "listed"

    assert sorted(at_once(add, times=4)) == [HOST, "listed", "listed", "listed"]
    claims = [Domain.objects.get(), add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM)]
    shown = HostRecords(texts=tuple(claim.token for claim in claims), points_here=True)

    def check(number: int) -> str:
        checked = record_check(domain=claims[number % 2], records=shown, now=now(), by=SYSTEM)
        return checked.finding if checked else ""

    assert set(at_once(check, times=4)) == {"found", "taken"}
    assert Domain.objects.verified().count() == 1
