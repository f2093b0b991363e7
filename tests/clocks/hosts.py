"""Processes of the product, each on a host whose clock the test sets."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.clocks import on_host
from tests.clocks.readings import reading_of
from tests.processes.preloaded import Order, Preloaded
from tests.tools.local.processes import children_of
from tests.waiting import until


class Host:
    """A process of the product on a host with a clock of its own."""

    def __init__(self, clock: Path, pid: int) -> None:
        self.clock = clock
        self.pid = pid

    def set_clock(self, ahead: float) -> None:
        write_clock(self.clock, ahead)

    def wait_until_set(self, ahead: float) -> None:
        """Wait until all of its processes have this clock."""
        until(lambda: all(self._has(pid, ahead) for pid in self._processes()), what=f"clocks that are {ahead} s ahead")

    def _processes(self) -> list[int]:
        return [self.pid, *children_of(self.pid)]

    def _has(self, pid: int, ahead: float) -> bool:
        reading = reading_of(self.clock, pid)
        return reading.exists() and reading.read_text() == str(float(ahead))

    def kill_child(self) -> None:
        os.kill(children_of(self.pid)[-1], signal.SIGKILL)


def write_clock(clock: Path, ahead: float) -> None:
    draft = clock.with_suffix(".draft")
    draft.write_text(str(ahead))
    draft.rename(clock)


@contextmanager
def running_host(
    preloaded: Preloaded, clock: Path, arguments: Sequence[str], settings: Mapping[str, object], *, ahead: float
) -> Iterator[Host]:
    """Run a process until the block ends; `arguments` are those after `python`."""
    write_clock(clock, ahead)
    with preloaded.asked_to_end(Order(on_host.__name__, (str(clock), *arguments), settings)) as pid:
        yield Host(clock, pid)
