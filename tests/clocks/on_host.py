"""A worker of the plan, or beat, with a clock of its own, for `tests.processes.preloaded`.

A file holds by how many seconds the clock is ahead, and may change; only calendar time follows it, as on a real host.
Pools fork their processes with a clock of their parent's: these set it back first, and then follow the file as well.
"""

import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import time_machine

from tests.clocks.readings import reading_of
from tests.clocks.travelling import travel_ahead
from tests.processes import forked_celery

LOOK_SECONDS = 0.05


class Clock:
    """This process's clock, as the file says it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._travel: time_machine.travel | None = None
        self._ahead: float | None = None

    def follow(self) -> None:
        """Set it now and whenever the file changes."""
        self._look()
        threading.Thread(target=self._look_on, daemon=True).start()

    def follow_in_child(self) -> None:
        self._stop()
        self.follow()

    def _look_on(self) -> None:
        while True:
            self._look()
            time.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        wanted = float(self._path.read_text() or 0)
        if wanted != self._ahead:
            self._stop()
            self._travel = travel_ahead(timedelta(seconds=wanted))
            self._ahead = wanted
            reading_of(self._path, os.getpid()).write_text(str(wanted))

    def _stop(self) -> None:
        if self._travel is not None:
            self._travel.stop()
        self._travel = self._ahead = None


def main(path: str, *arguments: str) -> None:
    """Follow the clock of this file, and do as the command does."""
    clock = Clock(Path(path))
    os.register_at_fork(after_in_child=clock.follow_in_child)
    clock.follow()
    forked_celery.main(*arguments)
