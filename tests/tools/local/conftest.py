"""Small systems on real servers, each on a state folder of its own."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.tools.system import RunningSystem, running_system
from tools.local.servers.account import ORDINARY
from tools.local.servers.starting import socket_folder

SmallSystem = Callable[..., AbstractContextManager[RunningSystem]]
COMMAND = (sys.executable, "-m", "tests.tools.local.small_system")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """Give a state folder's path; the sockets of a killed system, which lie elsewhere, are cleared away."""
    yield tmp_path / "state"
    with socket_folder(tmp_path / "state", ORDINARY):
        pass


@pytest.fixture
def small_system(state: Path) -> SmallSystem:
    """Give what starts the small system: arguments for its command line, and another state folder if need be."""

    def start(*arguments: str, folder: Path = state) -> AbstractContextManager[RunningSystem]:
        return running_system(folder, command=(*COMMAND, *arguments), is_small=True)

    return start


@pytest.fixture
def no_servers_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the addresses of the test run's own servers."""
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("REDIS_URL")
