"""A whole running system for tests: the runner in a process of its own."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes.starting import Process, start_process
from tests.processes.unmeasured import unmeasured
from tools.local.errors import CannotStart
from tools.local.state import BOOTSTRAP, RUN, open_log, read_json

START_SECONDS = 120.0
STOP_SECONDS = 60.0
COMMAND = (sys.executable, "-m", "tools.local.run", "--port", "0")


@dataclass
class RunningSystem:
    """Its variables, its process ids by name, the bootstrap's secrets; `log` holds all output."""

    runner: Process
    state: Path

    @property
    def log(self) -> Path:
        return self.state.with_name(f"{self.state.name}.log")

    @property
    def published(self) -> dict[str, Any]:
        return read_json(self.state / RUN)

    @property
    def is_ready(self) -> bool:
        published = self.published  # read once: an earlier system's file may be replaced meanwhile
        return bool(published.get("ready")) and published.get("runner") == self.runner.pid

    @property
    def env(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.published["env"].items()}

    @property
    def pids(self) -> dict[str, int]:
        """The ids of postgres, valkey, web, worker, dispatcher and beat."""
        return {name: int(pid) for name, pid in self.published["pids"].items()}

    @property
    def url(self) -> str:
        return self.env["PUBLIC_URL"]

    @property
    def bootstrap(self) -> dict[str, Any]:
        return read_json(self.state / BOOTSTRAP)

    def stop(self) -> int:
        """Ask the runner to end, and give its exit status."""
        self.runner.send_signal(signal.SIGTERM)
        return self.runner.wait(STOP_SECONDS)


@contextmanager
def running_system(
    state: Path, *, command: tuple[str, ...] = COMMAND, is_small: bool = False
) -> Iterator[RunningSystem]:
    """Run the system on a state folder and a free port until the block ends; raise `CannotStart`.

    `command` replaces the runner. A whole product is not measured: that costs a multiple of its time, for what other
    tests measure. Call it from the main thread.
    """
    state = state.absolute()
    state.parent.mkdir(parents=True, exist_ok=True)
    environment = _without_a_system()
    log = state.with_name(f"{state.name}.log")
    open_log(log).close()
    runner = start_process(
        [*command, "--state", str(state)], environment if is_small else unmeasured(environment), log=log
    )
    system = RunningSystem(runner, state)
    try:
        _wait_until_ready(system)
        yield system
    finally:
        if runner.poll() is None:
            system.stop()


def _without_a_system() -> dict[str, str]:
    """Give this process's environment without another system's servers and keys, and without a real provider."""
    another = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "PUBLIC_URL", "ENVIRONMENT"}
    return {name: value for name, value in os.environ.items() if name not in another and not name.startswith("META_")}


def _wait_until_ready(system: RunningSystem) -> None:
    until = time.monotonic() + START_SECONDS
    while not system.is_ready:
        if system.runner.poll() is not None or time.monotonic() > until:
            raise CannotStart(f"The system did not start:\n{system.log.read_text(errors='replace')}")
        time.sleep(0.05)
