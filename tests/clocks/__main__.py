"""Runs a Python module with a clock of its own: `python -m tests.clocks FILE MODULE ARGUMENTS…`.

FILE holds by how many seconds the clock is ahead, and may change; only calendar time follows it, as on a real host.
Pools fork their processes with a clock of their parent's; they follow the file as well.
"""

import os
import runpy
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

LOOK_SECONDS = 0.05


def follow(path: Path) -> None:
    """Set this process's clock by the file, now and whenever it changes."""
    travel: time_machine.travel | None = None
    ahead = None

    def look() -> None:
        nonlocal travel, ahead
        wanted = float(path.read_text() or 0)
        if wanted == ahead:
            return
        if travel is not None:
            travel.stop()
        travel = time_machine.travel(datetime.now(UTC) + timedelta(seconds=wanted))
        travel.start()
        ahead = wanted

    def look_on() -> None:
        while True:
            look()
            time.sleep(LOOK_SECONDS)

    look()
    threading.Thread(target=look_on, daemon=True).start()


def main() -> None:
    clock, module = Path(sys.argv[1]), sys.argv[2]
    sys.argv[:] = [module, *sys.argv[3:]]
    os.register_at_fork(after_in_child=lambda: follow(clock))
    follow(clock)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
