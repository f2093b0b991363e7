"""Whatever PostgreSQL does, a call is answered: with 503 and `Retry-After` where it cannot be served in time."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from config.asgi import application
from config.health import BEAT_KEY, WORKER_KEY, Degradation, degradations
from config.redis import call_redis
from tests.config.serving.web import Reply, Web, head, running_web
from tests.tenants import AGENCY_BASE, Tenant
from tests.waiting import until
from tools.local.database_proxy import Mode, Proxy, proxy_to

pytestmark = pytest.mark.django_db(transaction=True)
CALLS = 16
LIST = f"{AGENCY_BASE}/workspaces"


@pytest.fixture(scope="module")
def proxy(django_db_setup: None) -> Iterator[Proxy]:
    host, port = connection.settings_dict["HOST"], connection.settings_dict["PORT"]
    if not host.startswith("/"):
        pytest.skip("needs PostgreSQL on a Unix socket")
    with proxy_to(f"{host}/.s.PGSQL.{port}") as running:
        yield running


@pytest.fixture(scope="module")
def web(proxy: Proxy) -> Iterator[Web]:
    """The product's own server, which finds PostgreSQL behind the proxy."""
    settings = connection.settings_dict
    address = f"postgresql://{settings['USER']}@127.0.0.1:{proxy.port}/{settings['NAME']}"
    variables = {"DATABASE_URL": address, "AGENCY_KEY_LIMIT": "100000", "PROCESS_NAME": "web"}
    with running_web("tests.config.postgresql.limited:application", variables) as running:
        yield running


def call(web: Web, tenant: Tenant, *, method: str = "GET", body: bytes = b"") -> Reply:
    lines = [f"x-api-key: {tenant.plaintext}", "Connection: close"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return web.talk(head(method, LIST, *lines) + body)


def many(web: Web, tenant: Tenant) -> list[Reply]:
    """Make more calls at once than there are threads, half of them writes."""
    body = b'{"name":"New","owner":{"name":"N","email":"n@example.com"}}'
    with ThreadPoolExecutor(CALLS) as pool:
        reads = [pool.submit(call, web, tenant) for _ in range(CALLS // 2)]
        writes = [pool.submit(call, web, tenant, method="POST", body=body) for _ in range(CALLS // 2)]
        return [one.result() for one in reads + writes]


def assert_all_are_503_with_retry_after(answers: list[Reply]) -> None:
    assert {reply.status for reply in answers} == {503}
    assert all(b"retry-after: " in reply.head and set(reply.json) == {"message"} for reply in answers)


def test_a_call_waits_for_the_database_for_five_and_a_half_seconds_and_for_a_thread_for_five() -> None:
    assert (application.database_seconds, application.threads.wait_seconds) == (5.5, 5.0)


@contextmanager
def restored(proxy: Proxy, web: Web) -> Iterator[None]:
    """Have the server wait for less than the product, for what is silent until this ends."""
    web.get("/limits?database=2.5&thread=1")
    try:
        yield
    finally:
        proxy.become(Mode.PASSING)
        web.get("/limits")


def test_a_database_that_falls_silent_costs_no_call_more_than_its_limit(a: Tenant, web: Web, proxy: Proxy) -> None:
    assert call(web, a).status == 200
    with restored(proxy, web):
        proxy.become(Mode.SILENT)
        assert_all_are_503_with_retry_after(many(web, a))
        # Those connections are gone; new ones are accepted, and told nothing either.
        assert_all_are_503_with_retry_after(many(web, a))
        page = web.get("/account/sign-in")
        ready = web.get("/readyz")
        assert (ready.status, ready.json["checks"]["database"]) == (503, False)
        assert (page.status, web.get("/healthz").status) == (200, 200)
    assert call(web, a).status == 200


def test_a_database_that_is_gone_is_503_and_one_that_came_back_is_used_at_once(
    a: Tenant, web: Web, proxy: Proxy
) -> None:
    assert [reply.status for reply in many(web, a)[:8]] == [200] * 8
    with restored(proxy, web):
        proxy.become(Mode.GONE)
        assert_all_are_503_with_retry_after(many(web, a))
        page = web.talk(head("GET", "/console/", "Connection: close", "Cookie: session=abcdefgh"))
        assert (page.status, b"retry-after: " in page.head, b"text/html" in page.head) == (503, True, True)
    assert [reply.status for reply in many(web, a)[:8]] == [200] * 8
    proxy.drop()
    assert [reply.status for reply in many(web, a)[:8]] == [200] * 8


def test_a_backend_that_is_frozen_is_given_up(a: Tenant, web: Web, proxy: Proxy) -> None:
    """A thread that has no connection yet opens one, which nobody has frozen."""
    assert {reply.status for reply in many(web, a)} <= {200, 201}
    pids = the_webs_backends()
    assert pids
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        with restored(proxy, web):
            found = many(web, a)
        assert {reply.status for reply in found} <= {200, 201, 503}
        given_up = [reply for reply in found if reply.status == 503]
        assert given_up
        assert_all_are_503_with_retry_after(given_up)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def the_webs_backends() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'web' AND datname = current_database()"
            " AND pid <> pg_backend_pid() AND client_addr IS NULL AND state = 'idle'"
        )
        return [pid for (pid,) in cursor.fetchall()]


def test_a_read_that_meets_a_lock_is_told_to_come_back(a: Tenant, web: Web) -> None:
    settings = connection.settings_dict
    address = make_conninfo(
        host=settings["HOST"], port=settings["PORT"], user=settings["USER"], dbname=settings["NAME"]
    )
    with psycopg.connect(address) as other:
        other.execute("LOCK TABLE agency_agency IN ACCESS EXCLUSIVE MODE")
        assert_all_are_503_with_retry_after([call(web, a)])


def test_a_server_that_takes_no_writes_is_not_ready(web: Web, proxy: Proxy) -> None:
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        proxy.drop()
        until(lambda: web.get("/readyz").status == 503, what="503", every=0.2)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
            cursor.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        proxy.drop()
    until(lambda: web.get("/readyz").status == 200, what="200", every=0.2)


def test_what_is_missing_beside_the_database_is_named_and_serving_goes_on(web: Web) -> None:
    call_redis(lambda redis: redis.delete(WORKER_KEY, BEAT_KEY))  # those of an earlier test
    reply = web.get("/readyz")
    assert (reply.status, reply.json["status"]) == (200, "degraded")
    found = reply.json["checks"]
    assert set(found) == {"database", "migrations", *(part.name for part in degradations)}
    assert (found["redis"], found["worker"], found["beat"], found["mail"]) == (True, False, False, True)
    assert isinstance(degradations.get("mail"), Degradation)
