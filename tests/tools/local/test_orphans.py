"""Servers that nobody tied to their runner are ended by the next start."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from tools.local.leash import processes_at_work_in

from tests.tools.local.conftest import SmallSystem
from tests.tools.local.processes import all_gone, is_alive


@pytest.fixture
def no_setpriv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH on which the kernel cannot be asked to tie a process to its parent."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("unshare", "sh", "test", "true"):
        found = shutil.which(name)
        if found:
            (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.usefixtures("no_setpriv")
def test_a_start_ends_the_servers_that_a_killed_runner_left(
    small_system: SmallSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_system("--children") as system:
        orphans = system.pids
        os.kill(system.runner.pid, signal.SIGKILL)
        system.runner.wait()
        assert all(is_alive(pid) for pid in orphans.values())
    monkeypatch.undo()
    with small_system() as system, psycopg.connect(system.env["DATABASE_URL"]) as connection:
        assert all_gone(orphans.values())
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_without_proc_servers_are_found_by_their_command_lines(small_system: SmallSystem, tmp_path: Path) -> None:
    with small_system() as system:
        for name in ("postgres", "valkey"):
            found = processes_at_work_in(system.state / name, proc=tmp_path / "nothing")
            assert found == [system.pids[name]]


def test_a_process_id_file_with_somebody_elses_id_does_not_hinder_a_start(small_system: SmallSystem) -> None:
    with small_system() as system:
        left_behind = (system.state / "postgres" / "postmaster.pid").read_text().splitlines()
        folder = system.state / "postgres"
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        (folder / "postmaster.pid").write_text("\n".join([str(stranger.pid), *left_behind[1:], ""]))
        with small_system():
            assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()
