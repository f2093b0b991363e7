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
from tests.tools.system import RunningSystem
from tests.waiting import until
from tools.local import ROOT
from tools.local.runner.signals import stop_signals
from tools.local.servers.account import ORDINARY
from tools.local.servers.starting import socket_folder


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One state folder for all, since a new one has a database to be made. Its path has more than 120 characters."""
    folder = tmp_path_factory.mktemp("runner") / ("a" * 70) / ("b" * 70) / "state"
    yield folder
    with socket_folder(folder, ORDINARY):
        pass


def secrets_of(system: RunningSystem) -> list[str]:
    return [system.env[name] for name in ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS")]


def last_line(log: Path) -> str:
    return log.read_text().strip().splitlines()[-1]


def grandchild_of(system: RunningSystem) -> int:
    """Wait for the process that the stubborn one starts."""
    until(lambda: re.search(r"grandchild \d+\n", system.log.read_text()), what="the child's own child")
    return int(system.log.read_text().split("grandchild ")[1].split()[0])


def ends_in_order(system: RunningSystem, chosen: signal.Signals) -> None:
    """End everything with status 0, PostgreSQL last."""
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


@pytest.mark.parametrize("chosen", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_ending_signal_asks_for_one_orderly_end(chosen: signal.Signals) -> None:
    """A closed terminal ends a whole small system below, ^C one that will not end, SIGTERM the demonstration's."""
    before = signal.getsignal(chosen)
    with stop_signals() as signals:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(chosen)
        assert not signals.was_repeated()
        signal.raise_signal(chosen)
        assert signals.was_repeated()
    assert signal.getsignal(chosen) == before


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_the_death_of_a_server_ends_all_with_status_1(small_system: SmallSystem, name: str) -> None:
    """That of a process of the product does, too: see the next test."""
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
    """The system that finds them is then ended by a signal."""
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
        ends_in_order(system, signal.SIGHUP)


def test_a_second_signal_kills_what_will_not_end(small_system: SmallSystem) -> None:
    with small_system("--children", "stubborn") as system:
        pids = system.pids
        grandchild = grandchild_of(system)
        os.kill(system.runner.pid, signal.SIGINT)
        until(lambda: not (system.state / "run.json").exists(), what="the end to begin")
        os.kill(system.runner.pid, signal.SIGINT)
        assert system.runner.wait(60) == 0
        assert all_gone([*pids.values(), grandchild])


def test_a_running_system_works_on_a_long_path_keeps_its_secrets_and_refuses_a_second_one(
    small_system: SmallSystem,
) -> None:
    with small_system() as system:
        assert len(str(system.state)) > 120
        with psycopg.connect(system.env["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

        lines = {"one | awake", "two | awake"}
        until(lambda: lines <= set(system.log.read_text().splitlines()), what="the lines, each with its process's name")

        for name in ("run.json", "secrets.json", "postgres.log", "valkey.log"):
            mode = stat.S_IMODE((system.state / name).stat().st_mode)
            assert mode == 0o600, f"others may read {name}"

        second = subprocess.run(
            [*COMMAND, "--state", str(system.state)], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert second.returncode == 1
        assert "already running from this checkout" in second.stderr
        assert all(is_alive(pid) for pid in system.pids.values())
