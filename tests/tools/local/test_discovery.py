"""Commands in another terminal find a running system, and only a running one."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tools.local.state import write_private

from tests.tools.local.conftest import SmallSystem
from tools.local import ROOT, discovery

pytestmark = pytest.mark.usefixtures("no_servers_named")


def test_a_running_system_s_variables_are_put_into_the_environment(
    small_system: SmallSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"LOG_FORMAT": "json", "PORT": ""})
    with small_system() as system:
        discovery.load(system.state)
        assert os.environ["DATABASE_URL"] == system.env["DATABASE_URL"]
        assert os.environ["SECRET_KEY"] == system.env["SECRET_KEY"]
        assert os.environ["PORT"] == system.env["PORT"]
        assert os.environ["LOG_FORMAT"] == "json"


def test_a_database_named_in_the_environment_goes_first(
    small_system: SmallSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"DATABASE_URL": "given://elsewhere"})
    with small_system() as system:
        discovery.load(system.state)
    assert os.environ == {"DATABASE_URL": "given://elsewhere"}


def test_a_killed_system_is_not_found(small_system: SmallSystem) -> None:
    with small_system() as system:
        os.kill(system.runner.pid, signal.SIGKILL)
        system.runner.wait()
        assert (system.state / "run.json").exists()
        assert discovery.running_variables(system.state) == {}


def test_what_a_killed_system_left_is_not_taken_for_the_next_one_s(small_system: SmallSystem, state: Path) -> None:
    state.mkdir()
    write_private(state / "run.json", '{"env": {"DATABASE_URL": "given://old"}, "runner": 1, "ready": true}')
    with small_system() as system:
        assert discovery.running_variables(system.state)["DATABASE_URL"] != "given://old"


def run_with_servers(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tools.local.command", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_a_command_uses_the_servers_of_a_running_system(small_system: SmallSystem) -> None:
    with small_system() as system:
        answer = run_with_servers("--state", str(system.state), "--", "printenv", "DATABASE_URL")
        assert answer.stdout.strip() == system.env["DATABASE_URL"]


def test_a_command_starts_the_servers_when_none_run_and_its_status_is_given(state: Path) -> None:
    look = "import os, sys, psycopg; psycopg.connect(os.environ['DATABASE_URL']).close(); sys.exit(3)"
    answer = run_with_servers("--state", str(state), "--throwaway", "--", sys.executable, "-c", look)
    assert answer.returncode == 3, answer.stderr
    left = [path.name for path in state.with_name("state-command").iterdir()]
    assert left == ["lock"]


def test_a_command_that_cannot_have_servers_is_told_why(state: Path) -> None:
    (state / "postgres").mkdir(parents=True)
    answer = run_with_servers("--state", str(state), "--", "true")
    assert answer.returncode == 1
    assert "made by PostgreSQL (unknown)" in answer.stderr


def test_a_command_given_to_another_python_goes_on_in_the_one_that_make_furnished(tmp_path: Path) -> None:
    shutil.copy(ROOT / "manage.py", tmp_path)
    furnished = tmp_path / ".venv" / "bin" / "python"
    furnished.parent.mkdir(parents=True)
    furnished.write_text('#!/bin/sh\necho "furnished $*"\n')
    furnished.chmod(0o755)
    command = [sys.executable, "-S", str(tmp_path / "manage.py"), "check"]  # -S: no packages, so no Django
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"furnished {tmp_path / 'manage.py'} check\n", done.stderr


def test_a_command_that_lacks_settings_says_so_without_a_trace() -> None:
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgresql://app@localhost/app"}
    command = [sys.executable, "manage.py", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("SECRET_KEY is not set")
    assert "leave `make run` running" in done.stderr
