"""The whole system, as `make run` starts it."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from tests.tools.local.processes import all_gone, children_of
from tests.tools.system import RunningSystem, running_system
from tools.local.runner.web import get
from tools.sandbox import RunningSandbox, SandboxConfig

pytestmark = pytest.mark.slow


def read(system: RunningSystem, path: str) -> dict[str, object]:
    _, body = get(int(system.env["PORT"]), path)
    found: dict[str, object] = json.loads(body)
    return found


def secrets_of(system: RunningSystem) -> list[str]:
    known = system.bootstrap
    passwords = [known[name]["password"] for name in ("console", "customer", "admin")]
    return [known["agency_key"], known["copy_key"], known["workspace"]["key"], *passwords]


def is_verified_by_the_sandbox(system: RunningSystem) -> bool:
    """Have the sandbox provider ask the product whether its address is the product's own."""
    result = RunningSandbox(system.env["META_GRAPH_URL"], SandboxConfig.read({})).callback(kind="verification")
    return bool(result["is_verified"])


def test_it_becomes_ready_survives_kill_9_remembers_its_keys_and_ends_with_its_worker(state: Path) -> None:
    """One story on one state: whole systems take long to start, and longest on empty data.

    That one ends when it is asked to is seen where the demonstration's does.
    """
    with running_system(state) as system:
        assert set(system.pids) == {
            *("postgres", "valkey", "web", "worker", "mail", "housekeeping", "dispatcher", "sender", "beat", "sandbox"),
        }
        assert read(system, "/healthz")["instance"] == system.env["INSTANCE_ID"]
        assert read(system, "/readyz")["status"] == "ready"
        assert is_verified_by_the_sandbox(system)
        secrets = secrets_of(system)
        assert all(secrets)
        assert stat.S_IMODE((state / "bootstrap.json").stat().st_mode) == 0o600
        everything = [*system.pids.values(), *(child for pid in system.pids.values() for child in children_of(pid))]
        os.kill(system.runner.pid, signal.SIGKILL)
        assert all_gone(everything)
    with running_system(state) as system:
        assert "Applying" not in system.log.read_text()
        assert secrets_of(system) == secrets
        everything = list(system.pids.values())
        os.kill(system.pids["worker"], signal.SIGKILL)
        assert system.runner.wait(20) == 1
        assert all_gone(everything)
        assert "worker ended by itself (signal SIGKILL)" in system.log.read_text()
