"""The runner keeps a system together: it starts, stops and ends as one."""

import os
import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from tests.tools.local.conftest import COMMAND, SmallSystem
from tests.tools.local.processes import all_gone, children_of, is_alive
from tests.tools.system import RunningSystem, running_system
from tests.waiting import until
from tools.local import ROOT
from tools.local.servers.account import ORDINARY
from tools.local.servers.starting import socket_folder


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One state folder for all, since a new one has a database to be made."""
    folder = tmp_path_factory.mktemp("runner") / "state"
    yield folder
    with socket_folder(folder, ORDINARY):
        pass


@pytest.fixture(scope="module")
def shared_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    """A small system for tests that leave it as it is, with a path of more than 120 characters."""
    folder = tmp_path_factory.mktemp("shared") / ("a" * 70) / ("b" * 70)
    with running_system(folder, command=COMMAND, is_small=True) as system:
        yield system


def secrets_of(system: RunningSystem) -> list[str]:
    return [system.env[name] for name in ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS")]


def last_line(log: Path) -> str:
    return log.read_text().strip().splitlines()[-1]


def grandchild_of(system: RunningSystem) -> int:
    """Wait for the process that the stubborn one starts."""
    until(lambda: re.search(r"grandchild \d+\n", system.log.read_text()), what="the child's own child")
    return int(system.log.read_text().split("grandchild ")[1].split()[0])


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ending_signal_ends_everything_with_status_0_and_postgresql_last(
    small_system: SmallSystem, chosen: signal.Signals
) -> None:
    with small_system() as system:
        pids = system.pids
        assert set(pids) == {"postgres", "valkey", "one", "two"}
        assert all(is_alive(pid) for pid in pids.values())
        os.kill(system.runner.pid, chosen)
        assert system.runner.wait(60) == 0
        assert all_gone(pids.values())
        assert last_line(system.log) == "Stopped."
        valkey, postgres = (system.state / name for name in ("valkey.log", "postgres.log"))
        assert "ready to exit" in valkey.read_text()
        assert "database system is shut down" in postgres.read_text()
        assert valkey.stat().st_mtime_ns <= postgres.stat().st_mtime_ns


@pytest.mark.parametrize("name", ["one", "postgres", "valkey"])
def test_the_death_of_one_process_ends_all_with_status_1(small_system: SmallSystem, name: str) -> None:
    with small_system() as system:
        pids = system.pids
        os.kill(pids[name], signal.SIGKILL)
        assert system.runner.wait(60) == 1
        assert all_gone(pids.values())
        assert f"{name} ended by itself" in system.log.read_text()


def test_what_a_process_that_died_has_started_ends_too(small_system: SmallSystem) -> None:
    with small_system("--children", "stubborn", "one") as system:
        pids = system.pids
        grandchild = grandchild_of(system)
        os.kill(pids["stubborn"], signal.SIGKILL)
        assert system.runner.wait(60) == 1
        assert all_gone([*pids.values(), grandchild])
        assert "stubborn ended by itself (signal SIGKILL)" in system.log.read_text()


def test_kill_9_of_the_runner_leaves_no_process_and_data_and_secrets_are_there_afterwards(
    small_system: SmallSystem,
) -> None:
    with small_system() as system:
        pids = system.pids
        secrets = secrets_of(system)
        with psycopg.connect(system.env["DATABASE_URL"]) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'a row' AS value")
        redis.Redis.from_url(system.env["REDIS_URL"]).set("kept", "a value")
        backends = children_of(pids["postgres"])
        os.kill(system.runner.pid, signal.SIGKILL)
        assert all_gone([*pids.values(), *backends])
    with small_system() as system:
        with psycopg.connect(system.env["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT value FROM kept").fetchone() == ("a row",)
        assert redis.Redis.from_url(system.env["REDIS_URL"]).get("kept") == b"a value"
        assert secrets_of(system) == secrets


def test_a_second_start_on_the_same_data_is_refused(shared_system: RunningSystem) -> None:
    second = subprocess.run(
        [*COMMAND, "--state", str(shared_system.state)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert second.returncode == 1
    assert "already running from this checkout" in second.stderr
    assert all(is_alive(pid) for pid in shared_system.pids.values())


def test_a_second_signal_kills_what_will_not_end(small_system: SmallSystem) -> None:
    with small_system("--children", "stubborn") as system:
        pids = system.pids
        grandchild = grandchild_of(system)
        os.kill(system.runner.pid, signal.SIGINT)
        until(lambda: not (system.state / "run.json").exists(), what="the end to begin")
        os.kill(system.runner.pid, signal.SIGINT)
        assert system.runner.wait(60) == 0
        assert all_gone([*pids.values(), grandchild])


def test_a_state_path_of_more_than_120_characters_works(shared_system: RunningSystem) -> None:
    assert len(str(shared_system.state)) > 120
    with psycopg.connect(shared_system.env["DATABASE_URL"]) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_each_line_of_output_bears_its_process_s_name(shared_system: RunningSystem) -> None:
    lines = {"one | awake", "two | awake"}
    until(lambda: lines <= set(shared_system.log.read_text().splitlines()), what="the lines of both")


def test_what_holds_secrets_is_readable_by_its_owner_alone(shared_system: RunningSystem) -> None:
    for name in ("run.json", "secrets.json", "postgres.log", "valkey.log"):
        assert stat.S_IMODE((shared_system.state / name).stat().st_mode) == 0o600
