"""Processes of the product, each on a host whose clock the test sets."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.processes import own_processes
from tests.tools.local.processes import children_of


class Host:
    """A process of the product on a host with a clock of its own; `arguments` are those after `python`."""

    def __init__(self, clock: Path, arguments: Sequence[str], variables: Mapping[str, str], *, ahead: float) -> None:
        self.clock = clock
        self.set_clock(ahead)
        module = list(arguments).index("-m")
        command = (*arguments[: module + 1], "tests.clocks", str(clock), *arguments[module + 1 :])
        self.process = own_processes.start(command, variables)

    def set_clock(self, ahead: float) -> None:
        draft = self.clock.with_suffix(".draft")
        draft.write_text(str(ahead))
        draft.rename(self.clock)

    def kill_child(self) -> None:
        os.kill(children_of(self.process.pid)[-1], signal.SIGKILL)
