"""Processes of the product, each on a host whose clock the test sets."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.clocks.readings import reading_of
from tests.processes.own_processes import start
from tests.processes.starting import stop
from tests.tools.local.processes import children_of
from tests.waiting import PATIENCE_SECONDS, until


class Host:
    """A process of the product on a host with a clock of its own; `arguments` are those after `python`."""

    def __init__(self, clock: Path, arguments: Sequence[str], variables: Mapping[str, str], *, ahead: float) -> None:
        self.clock = clock
        self.set_clock(ahead)
        module = list(arguments).index("-m")
        command = (*arguments[: module + 1], "tests.clocks", str(clock), *arguments[module + 1 :])
        self.process = start(command, variables)

    def set_clock(self, ahead: float) -> None:
        draft = self.clock.with_suffix(".draft")
        draft.write_text(str(ahead))
        draft.rename(self.clock)

    def wait_until_set(self, ahead: float) -> None:
        """Wait until all of its processes have this clock."""
        until(lambda: all(self._has(pid, ahead) for pid in self._processes()), what=f"clocks that are {ahead} s ahead")

    def _processes(self) -> list[int]:
        return [self.process.pid, *children_of(self.process.pid)]

    def _has(self, pid: int, ahead: float) -> bool:
        reading = reading_of(self.clock, pid)
        return reading.exists() and reading.read_text() == str(float(ahead))

    def end(self) -> None:
        """Wait for the end of what was asked to; a worker lets its processes go one after the other."""
        try:
            self.process.wait(PATIENCE_SECONDS)
        finally:
            stop(self.process)

    def kill_child(self) -> None:
        os.kill(children_of(self.process.pid)[-1], signal.SIGKILL)
