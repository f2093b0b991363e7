"""PgBouncer in transaction mode before the web processes; workers and dispatchers go past it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from agency.models import Domain
from agency.services import hosts
from agency.services.hosts import HostCache
from tests.factories import DomainFactory
from tests.processes.own_processes import database_url, running, start, variables
from tests.processes.starting import kill
from tests.servers.programs import free_port, listens, program, server
from tests.waiting import until
from tools.local import ROOT
from tools.local.runner.plan import whole_system
from tools.local.runner.web import get
from tools.local.servers.account import servers_account
from webhooks.models import DispatcherRun

START_SECONDS = 60
# As docs/operations/postgresql.md describes it.
CONFIG = """
[databases]
* = host={host} port={port} user=app connect_query='{options}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = options,extra_float_digits
unix_socket_dir =
"""
OPTIONS = {"statement_timeout": "5s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "10s"}
SET_OPTIONS = "; ".join(f"SET {name} = ''{value}''" for name, value in OPTIONS.items())


@pytest.fixture
def pooled(transactional_db: None) -> Iterator[str]:
    """The address of the test's database through a PgBouncer."""
    pgbouncer, own = program("pgbouncer"), free_port()
    direct = psycopg.conninfo.conninfo_to_dict(database_url())
    config = Path("/tmp", f"pgbouncer-{own}.ini")  # noqa: S108  # its user may not enter the test's folder
    config.write_text(CONFIG.format(host=direct["host"], port=direct.get("port", 5432), own=own, options=SET_OPTIONS))
    command = (*servers_account().prefix, pgbouncer, str(config))
    try:
        with server(*command, ready=lambda: listens(own)):
            yield database_url(host="127.0.0.1", port=str(own))
    finally:
        config.unlink()


def environment(pooled: str) -> dict[str, str]:
    return {**variables(), "DATABASE_URL": pooled, "DATABASE_DIRECT_URL": database_url()}


def test_no_startup_option_is_lost_on_the_way_through_the_pooler(pooled: str) -> None:
    with psycopg.connect(pooled, options="-c statement_timeout=1", autocommit=True) as connection:
        for name, value in OPTIONS.items():
            assert connection.execute(f"SHOW {name}").fetchone() == (value,)


def test_the_web_processes_serve_through_it(pooled: str) -> None:
    port = free_port()
    [web] = [child.command for child in whole_system(ROOT, port).children if child.name == "web"]
    process = start((*web[1:], "--workers", "1"), environment(pooled))
    try:
        until(lambda: get(port, "/healthz")[0] == 200, START_SECONDS)
        assert b'"database": true' in get(port, "/readyz")[1].replace(b'":true', b'": true')
        assert get(port, "/account/sign-in")[0] == 200
    finally:
        kill(process)


# What `manage.py check` does, on the way that its settings choose and then through the pooler.
CHECKED_TWICE = """
import sys
sys.argv = ["manage.py", "check"]
import django
django.setup()
from django.core.management import call_command
from django.db import connection
check = ["check", "--database", "default", "--fail-level"]
call_command(*check, "WARNING")
connection.close()
connection.settings_dict |= {{"HOST": "{host}", "PORT": "{port}"}}
call_command(*check, "ERROR")
"""


def test_dispatchers_and_maintenance_go_past_it_and_one_that_drops_startup_options_is_found(pooled: str) -> None:
    """They hold advisory locks, which belong to a session.

    The settings of maintenance commands are other ones than those that the pooler sets.
    """
    with running("dispatcher", DATABASE_URL=pooled, DATABASE_DIRECT_URL=database_url()):
        until(DispatcherRun.objects.exists, START_SECONDS)
    through = psycopg.conninfo.conninfo_to_dict(pooled)
    checks = CHECKED_TWICE.format(host=through["host"], port=through["port"])
    given = {**environment(pooled), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", checks]
    run = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "operations.W001" in run.stderr
    assert "statement_timeout = 60000, and have 5000" in run.stderr


@contextmanager
def listening_at(url: str, settings: Any) -> Iterator[HostCache]:
    """A process's copy of the verified hosts whose listener has this address."""
    settings.IS_POOLED, settings.DATABASE_DIRECT_URL, settings.DOMAIN_CHANGES_ARE_HEARD = True, url, True
    cache = HostCache()
    assert cache.hosts.agencies == {}
    listener = cache._listener
    assert listener
    try:
        yield cache
    finally:
        listener.stopping.set()
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {hosts.CHANNEL}")  # it need not wait until it reads anew by itself
        listener.thread.join(START_SECONDS)
        Domain.objects.all().delete()


def test_domains_are_heard_of_past_the_pooler_and_found_by_reading_anew_through_it(
    pooled: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "LONGEST_AGE_SECONDS", 3600.0)
    monkeypatch.setattr(hosts, "REREAD_SECONDS", 3600.0)
    with listening_at(database_url(), settings) as cache:
        until(lambda: cache._generation > 0, START_SECONDS)  # it has read, and listens
        domain = DomainFactory.create()
        until(lambda: domain.host in cache.hosts.agencies, START_SECONDS)
    monkeypatch.setattr(hosts, "REREAD_SECONDS", 0.5)
    with listening_at(pooled, settings) as cache:
        until(lambda: cache._generation > 0, START_SECONDS)  # it has read, and listens
        domain = DomainFactory.create()
        until(lambda: domain.host in cache.hosts.agencies, START_SECONDS)


def test_without_any_listener_a_process_reads_the_domains_by_itself(
    transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "LONGEST_AGE_SECONDS", 0.3)
    with listening_at(database_url(host="127.0.0.1", port=str(free_port())), settings) as cache:
        domain = DomainFactory.create()
        until(lambda: domain.host in cache.hosts.agencies, START_SECONDS)
