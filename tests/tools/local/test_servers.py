"""PostgreSQL and Valkey on a state folder: what is started, with what, and what the error says when it is not."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from tools.local.errors import CannotStart
from tools.local.servers.account import ORDINARY, dropped, works
from tools.local.servers.binaries import find_postgres, major_version
from tools.local.servers.starting import socket_folder, started_servers
from tools.local.state import held

pytestmark = pytest.mark.usefixtures("no_servers_named")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may pass through."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder for tests to which it is the same who made the database in it."""
    return tmp_path_factory.mktemp("servers") / "state"


def test_the_servers_are_set_up_as_the_product_needs_them(made: Path) -> None:
    """Their sockets lie in a private folder that goes with them."""
    with held(made) as folder, started_servers(folder) as servers:
        with psycopg.connect(servers.env["DATABASE_URL"]) as connection:
            names = ("listen_addresses", "max_connections", "fsync", "server_encoding", "TimeZone")
            found = [connection.execute(f"SHOW {name}").fetchone() for name in names]
            assert found == [("",), ("200",), ("on",), ("UTF8",), ("UTC",)]
            assert connection.execute("SELECT lower('ÄÖ'), current_database()").fetchone() == ("äö", "app")
        client = redis.Redis.from_url(servers.env["REDIS_URL"])
        expected = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        expected |= {"databases": "64", "port": "0", "save": ""}
        assert client.config_get(*expected) == expected
        client.close()
        sockets = Path(servers.env["REDIS_URL"].removeprefix("unix://").partition("?")[0]).parent
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert {path.name for path in sockets.iterdir()} == {".s.PGSQL.5432", ".s.PGSQL.5432.lock", "valkey.sock"}
    assert not sockets.exists()


def test_throw_away_servers_trade_safety_for_speed(made: Path) -> None:
    with held(made) as folder, started_servers(folder, durable=False) as servers:
        with psycopg.connect(servers.env["DATABASE_URL"]) as connection:
            found = [
                connection.execute(f"SHOW {name}").fetchone()
                for name in ("fsync", "synchronous_commit", "full_page_writes")
            ]
        assert found == [("off",)] * 3


@pytest.mark.parametrize(
    ("name", "other", "started"), [("DATABASE_URL", "REDIS_URL", "valkey"), ("REDIS_URL", "DATABASE_URL", "postgres")]
)
def test_a_server_whose_address_is_given_is_not_started(
    made: Path, monkeypatch: pytest.MonkeyPatch, name: str, other: str, started: str
) -> None:
    monkeypatch.setenv(name, "given://elsewhere")
    with held(made) as folder, started_servers(folder) as servers:
        assert servers.env[name] == "given://elsewhere"
        assert other in servers.env
        assert set(servers.processes) == {started}


def test_with_both_addresses_given_nothing_is_started(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "given://one")
    monkeypatch.setenv("REDIS_URL", "given://two")
    with held(state) as folder, started_servers(folder) as servers:
        assert servers.env == {"DATABASE_URL": "given://one", "REDIS_URL": "given://two"}
        assert [path.name for path in folder.iterdir()] == ["lock"]


def test_data_of_another_postgresql_version_are_left_alone(state: Path) -> None:
    cluster = state / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9\n")
    with (
        held(state) as folder,
        pytest.raises(CannotStart, match=r"made by PostgreSQL 9, but .* is version \d\d"),
        started_servers(folder),
    ):
        pass
    assert [path.name for path in cluster.iterdir()] == ["PG_VERSION"]


def test_a_server_that_fails_says_why_from_its_log(made: Path) -> None:
    with held(made) as folder:
        with started_servers(folder):
            pass
        configuration = folder / "postgres" / "postgresql.conf"
        before = configuration.read_text()
        configuration.write_text("no_such_setting = 1\n")
        try:
            with (
                pytest.raises(CannotStart, match=r"(?s)PostgreSQL did not start.*no_such_setting"),
                started_servers(folder),
            ):
                pass
        finally:
            configuration.write_text(before)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can take another account")
def test_root_without_user_namespaces_runs_them_under_another_account(open_folder: Path) -> None:
    if not works(*dropped().prefix, "test", "-x", find_postgres().postgres):
        pytest.skip("the virtual environment lies below a folder that only root may enter")
    with held(open_folder / "state") as folder, started_servers(folder, account=dropped()) as servers:
        owners = {Path(f"/proc/{process.pid}").stat().st_uid for process in servers.processes.values()}
        assert owners == {dropped().owner}
        with psycopg.connect(servers.env["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can take another account")
def test_another_account_that_cannot_reach_the_data_is_reported(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    with (
        held(tmp_path / "closed" / "state") as folder,
        pytest.raises(CannotStart, match="only root may enter"),
        started_servers(folder, account=dropped()),
    ):
        pass


def test_a_socket_folder_that_others_can_enter_is_made_anew(state: Path) -> None:
    with socket_folder(state, ORDINARY) as folder:
        pass
    folder.mkdir(mode=0o755)
    (folder / "left_behind").touch()
    with socket_folder(state, ORDINARY) as again:
        assert again == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert not list(folder.iterdir())
    assert not folder.exists()


def test_a_socket_folder_that_is_a_link_is_refused(state: Path, tmp_path: Path) -> None:
    with socket_folder(state, ORDINARY) as folder:
        pass
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    try:
        with pytest.raises(CannotStart, match="not a folder of this user"), socket_folder(state, ORDINARY):
            pass
        assert elsewhere.exists()
    finally:
        folder.unlink()


def test_a_program_that_does_not_run_here_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "postgres"
    program.write_text("#!/bin/sh\necho no library >&2\nexit 127\n")
    program.chmod(0o755)
    with pytest.raises(CannotStart, match="does not run here: no library"):
        major_version(program)
