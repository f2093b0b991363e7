"""A whole system of its own: web, worker, dispatcher and beat, on servers and a folder that are thrown away."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database.dump import make_cluster
from tests.tools.local.processes import all_gone
from tests.tools.system import RunningSystem, running_system

COMMAND = (sys.executable, "-m", "tests.tools.demo.restarting_system")


@pytest.fixture(scope="module")
def live_system(migrated_dump: Path | None) -> Iterator[RunningSystem]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        if migrated_dump:
            make_cluster(state, migrated_dump)
        yield from _running(state)


def _running(state: Path) -> Iterator[RunningSystem]:
    with running_system(state, command=COMMAND) as system:
        yield system
        everything = list(system.pids.values())
        assert system.stop() == 0
        assert all_gone(everything)
