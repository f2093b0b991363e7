"""What a killed runner leaves does not hinder the next start."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.tools.local.conftest import SmallSystem
from tests.tools.local.processes import all_gone, is_alive
from tools.local.errors import CannotStart
from tools.local.servers import server
from tools.local.servers.starting import started_servers
from tools.local.state import held


def test_neither_a_killed_system_s_servers_nor_a_file_with_somebody_elses_id_hinder_a_start(
    small_system: SmallSystem,
) -> None:
    """A start right after `kill -9` waits until those servers are gone, since a server holds the lock of its data."""
    with small_system() as system:
        pids = system.pids
        os.kill(system.runner.pid, signal.SIGKILL)
        system.runner.wait()
    with small_system() as system, psycopg.connect(system.env["DATABASE_URL"]) as connection:
        assert all_gone(pids.values())
        assert connection.execute("SELECT 1").fetchone() == (1,)
        for name in ("postgres", "valkey"):
            with (system.state / f"{name}.lock").open() as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file = system.state / "postgres" / "postmaster.pid"
        left_behind = file.read_text().splitlines()
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        file.write_text("\n".join([str(stranger.pid), *left_behind[1:], ""]))
        with small_system():
            assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.usefixtures("no_servers_named")
def test_a_server_that_does_not_end_is_named(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STOP_SECONDS", 0.1)
    with held(state) as folder, (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CannotStart, match="An earlier PostgreSQL still works on"), started_servers(folder):
            pass
