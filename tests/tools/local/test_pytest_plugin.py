"""A test run has throw-away servers of its own, which end with it however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.local.processes import all_gone
from tests.waiting import until
from tools.local import ROOT
from tools.local.pytest_plugin import with_database

WAITING = """
import os, time

def test_waits():
    with open(os.environ["STARTED"], "w") as started:
        started.write(os.environ["DATABASE_URL"])
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix:///tmp/x/valkey.sock?db=0", "unix:///tmp/x/valkey.sock?db=3"),
        ("redis://localhost:6379/0", "redis://localhost:6379/3"),
        ("redis://:secret@localhost:6379", "redis://:secret@localhost:6379/3"),
        ("rediss://host:6379/1?ssl_cert_reqs=none", "rediss://host:6379/3?ssl_cert_reqs=none"),
    ],
)
def test_parallel_workers_have_redis_databases_of_their_own(url: str, expected: str) -> None:
    assert with_database(url, 3) == expected


def test_this_run_has_its_own_settings() -> None:
    assert os.environ["ENVIRONMENT"] == "test"
    assert os.environ["DATABASE_URL"]


def servers_below(pid: int) -> list[int]:
    """Give the servers that a test run has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    names = {int(child): Path(f"/proc/{child}/comm").read_text().strip() for child in children}
    return [child for child, name in names.items() if name in {"postgres", "valkey-server"}]


@pytest.mark.slow
@pytest.mark.usefixtures("no_servers_named")
def test_kill_9_of_a_test_run_leaves_no_server(tmp_path: Path) -> None:
    test, started = tmp_path / "test_waiting.py", tmp_path / "started"
    test.write_text(WAITING)
    arguments = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:cov",
        "-p",
        "no:django",
        "-o",
        "addopts=",
        "-p",
        "tools.local.pytest_plugin",
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments, str(test)],
        cwd=ROOT,
        env={**os.environ, "STARTED": str(started), "PYTEST_XDIST_WORKER": ""},
        stdout=subprocess.DEVNULL,
    )
    try:
        until(lambda: started.exists() and started.read_text() != "", what="the test to begin")
        servers = servers_below(run.pid)
        assert len(servers) == 2
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert all_gone(servers)
