"""Commands in another terminal find a running system, and only a running one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.local.conftest import SmallSystem
from tools.local import ROOT
from tools.local.state import running_variables, write_private

pytestmark = pytest.mark.usefixtures("no_servers_named")


def run_with_servers(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tools.local.command", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_a_command_gets_the_variables_of_a_running_system_and_of_no_killed_one(
    small_system: SmallSystem, state: Path
) -> None:
    """Neither is what an earlier one left taken for the running one's, nor what this one leaves for a running one."""
    state.mkdir()
    write_private(state / "run.json", '{"env": {"DATABASE_URL": "given://old"}, "runner": 1, "ready": true}')
    with small_system() as system:
        assert running_variables(system.state)["DATABASE_URL"] != "given://old"
        names = ("DATABASE_URL", "SECRET_KEY", "PORT")
        answer = run_with_servers("--state", str(system.state), "--", "printenv", *names)
        assert answer.stdout.split() == [system.env[name] for name in names]
        os.kill(system.runner.pid, signal.SIGKILL)
        system.runner.wait()
        assert (system.state / "run.json").exists()
        assert running_variables(system.state) == {}


def test_a_command_starts_the_servers_when_none_run_and_its_status_is_given(state: Path) -> None:
    look = "import os, sys, psycopg; psycopg.connect(os.environ['DATABASE_URL']).close(); sys.exit(3)"
    answer = run_with_servers("--state", str(state), "--throwaway", "--", sys.executable, "-c", look)
    assert answer.returncode == 3, answer.stderr
    left = [path.name for path in state.with_name("state-command").iterdir()]
    assert left == ["lock"]


def test_a_command_that_cannot_have_servers_says_why(state: Path) -> None:
    (state / "postgres").mkdir(parents=True)
    answer = run_with_servers("--state", str(state), "--", "true")
    assert answer.returncode == 1
    assert "made by PostgreSQL (unknown)" in answer.stderr


def test_a_command_that_lacks_settings_says_so_without_a_trace() -> None:
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgresql://app@localhost/app"}
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("SECRET_KEY is not set")
    assert "make manage" in done.stderr
