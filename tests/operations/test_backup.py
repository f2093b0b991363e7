"""What docs/operations/backups.md says about backups, done: a dump, a physical copy, and the way back to a moment."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from django.conf import settings
from django.core.checks import Tags, run_checks
from django.db import connection

from config.recovery.identity import confirm, is_confirmed, waits_for_confirmation
from tests.factories.webhooks import a_failed_delivery
from tests.processes.starting import start_process, stop
from tests.tenants import Tenant
from tests.waiting import until
from tools.local.servers.account import servers_account
from tools.local.servers.binaries import find_postgres
from tools.local.servers.postgres import Postgres
from tools.local.servers.starting import socket_folder

PROGRAMS = find_postgres().folder
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (PROGRAMS / "pg_dump").exists(), reason=f"there is no pg_dump in {PROGRAMS}"),
]
RESTORED = "restored_from_a_dump"
FACTS = (
    "SELECT count(*), max(id) FROM webhooks_delivery",
    "SELECT count(*) FROM webhooks_attempt",
    "SELECT last_value FROM webhooks_delivery_number",
    "SELECT count(*) FROM pg_inherits",
    "SELECT array_agg(tgname ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT array_agg(extname ORDER BY extname) FROM pg_extension",
    "SELECT array_agg(indexname ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'public'",
)
DELIVERY = """
INSERT INTO webhooks_delivery (uuid, agency_id, endpoint_id, event_name, envelope_id, kind, status, attempts,
    max_attempts, created_at)
SELECT gen_random_uuid(), agency_id, endpoint_id, event_name, gen_random_uuid(), 'test', 'pending', 0, 1, now()
FROM webhooks_delivery LIMIT 1 RETURNING id
"""


def facts(database: "psycopg.Connection[Any]") -> list[Any]:
    return [database.execute(fact).fetchone() for fact in FACTS]


def own_facts() -> list[Any]:
    with psycopg.connect(settings.DATABASE_URL.replace("/app?", f"/{connection.settings_dict['NAME']}?")) as database:
        return facts(database)


def takes_deliveries(database: "psycopg.Connection[Any]") -> bool:
    newest = database.execute("SELECT max(id) FROM webhooks_delivery").fetchone()
    made = database.execute(DELIVERY).fetchone()
    return bool(newest and made and made[0] > newest[0])


def at_work() -> None:
    """Have a worker look at the database, as all do."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_logical_emit_message(false, 'test', repeat('so that the log grows', 100000), true)")
        assert is_confirmed(cursor)


def run(program: str, *arguments: str) -> None:
    command = [*servers_account().prefix, str(PROGRAMS / program), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=60, cwd="/")


@pytest.fixture
def server(a: Tenant) -> list[str]:
    """How the programs reach the test run's server, in whose database there is something to lose."""
    a_failed_delivery(a, a.endpoint)
    address = urlsplit(settings.DATABASE_URL)
    host = parse_qs(address.query).get("host")
    if host is None:
        pytest.skip("the server is not the test run's own")
    return ["-h", host[0], "-U", str(address.username)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the account that PostgreSQL's programs run as."""
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o777 == 0o700:
            parent.chmod(0o711)
    backups = tmp_path / "backups"
    backups.mkdir(mode=0o700)
    servers_account().own(backups)
    return backups


def test_a_dump_is_restored_whole(server: list[str], folder: Path) -> None:
    name = str(connection.settings_dict["NAME"])
    url = settings.DATABASE_URL.replace("/app?", f"/{RESTORED}?")
    expected = own_facts()
    at_work()
    run("pg_dump", *server, "--no-sync", "--format=directory", "--jobs=2", f"--file={folder}/dump", name)
    run("dropdb", *server, "--if-exists", "--force", RESTORED)
    run("createdb", *server, RESTORED)
    try:
        run("pg_restore", *server, "--exit-on-error", "--jobs=2", f"--dbname={RESTORED}", f"{folder}/dump")
        with psycopg.connect(url) as restored:
            assert facts(restored) == expected
            assert takes_deliveries(restored)
            assert not is_confirmed(restored)
            confirm(restored)
            assert is_confirmed(restored)
    finally:
        run("dropdb", *server, "--force", RESTORED)


def copied(folder: Path) -> Path:
    """Copy a physical copy, as much faster than making another one; give the folder in which the new one lies."""
    other = folder / "other"
    for command in (["mkdir", "-p", str(other)], ["cp", "-a", f"{folder}/postgres", f"{other}/postgres"]):
        subprocess.run([*servers_account().prefix, *command], check=True, timeout=60)
    return other


@contextmanager
def started(folder: Path) -> Iterator["psycopg.Connection[Any]"]:
    """Start a server on a physical copy, and connect to the test's database on it, until the block ends."""
    account = servers_account()
    with socket_folder(folder, account) as sockets:
        copy = Postgres(folder, sockets, account, durable=False)
        copy.start()
        try:
            with psycopg.connect(copy.url(str(connection.settings_dict["NAME"]))) as database:
                yield database
        finally:
            copy.stop()
            shutil.rmtree(folder / "postgres")


@contextmanager
def archived(server: list[str], folder: Path) -> Iterator[None]:
    """Keep every segment of the write-ahead log, as an archive command does, until the block ends."""
    (folder / "wal").mkdir(mode=0o700)
    servers_account().own(folder / "wal")
    run("pg_receivewal", *server, "--slot=archive", "--create-slot", "--if-not-exists")
    command = [str(PROGRAMS / "pg_receivewal"), *server, "-D", f"{folder}/wal", "--slot=archive", "--no-sync"]
    receiving = start_process([*servers_account().prefix, *command], cwd=Path("/"))
    try:
        until(lambda: any((folder / "wal").iterdir()))
        yield
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as database:
            row = database.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())").fetchone()
            database.execute("SELECT pg_switch_wal()")
        assert row
        until(lambda: (folder / "wal" / row[0]).exists())
    finally:
        stop(receiving)
        run("pg_receivewal", *server, "--slot=archive", "--drop-slot")


def configure(folder: Path, *lines: str) -> None:
    """Configure a copy's server, as for replaying an archive."""
    with (folder / "postgres" / "postgresql.auto.conf").open("a") as written:
        written.write("".join(f"{line}\n" for line in lines))


def warnings() -> set[str | None]:
    return {found.id for found in run_checks(tags=[Tags.database], databases=["default"])}


def test_a_physical_copy_is_verified_and_started_follows_or_goes_back_to_a_moment(
    a: Tenant, server: list[str], folder: Path
) -> None:
    """One copy for all three: a server that is started on one has changed it."""
    assert "operations.W002" not in warnings()
    expected = own_facts()
    at_work()
    with archived(server, folder):
        arguments = ("--wal-method=stream", "--checkpoint=fast", "--write-recovery-conf", "--no-sync")
        run("pg_basebackup", *server, "-D", f"{folder}/postgres", *arguments)
        run("pg_verifybackup", f"{folder}/postgres")
        at_work()
        moment = between_two_names(a)

    standby = copied(folder)
    configure(standby, f"restore_command = 'cp {folder}/wal/%f %p'")
    with started(standby) as following:
        until(lambda: "operations.W002" in warnings(), what="a standby for which commits do not wait")
        assert not waits_for_confirmation(following)
    (folder / "postgres" / "standby.signal").unlink()

    back = copied(folder)
    until_then = (f"recovery_target_time = '{moment}'", "recovery_target_action = 'promote'")
    configure(back, f"restore_command = 'cp {folder}/wal/%f %p'", *until_then)
    (back / "postgres" / "recovery.signal").touch()
    with started(back) as restored:
        until(lambda: restored.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))
        found = restored.execute("SELECT name FROM subaccounts_workspace WHERE uuid = %s", [a.workspace.uuid])
        assert found.fetchone() == ("Before",)
        assert not is_confirmed(restored)

    with started(folder) as restored:
        assert facts(restored) == expected
        assert takes_deliveries(restored)
        assert not is_confirmed(restored)


def between_two_names(a: Tenant) -> object:
    """Change the name of a sub-account twice; give a moment between both."""
    assert a.api.patch(f"/workspaces/{a.workspace.uuid}", {"name": "Before"}).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()::text")
        moment = cursor.fetchone()
    assert moment
    assert a.api.patch(f"/workspaces/{a.workspace.uuid}", {"name": "After"}).status_code == 200
    return moment[0]
