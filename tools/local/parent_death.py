"""Ties a process to the process that starts it, so that a `kill -9` of the runner leaves no process behind."""

import os
import shutil
from functools import lru_cache
from signal import SIGTERM, Signals

from tools.local.servers.account import works

# The kernel reports only deaths after the request. So check that the parent is still there, then run the command.
STILL_THERE = '[ "$PPID" = "$0" ] && exec "$@"'


@lru_cache(maxsize=1)
def setpriv() -> str | None:
    """Give the program that asks the kernel for the signal; None on systems other than Linux."""
    found = shutil.which("setpriv")
    return found if found and works(found, "--pdeathsig", "TERM", "--", "true") else None


def parent_death_signal(chosen: Signals = SIGTERM) -> tuple[str, ...]:
    """Give arguments to put before a command: the kernel then signals it when the calling thread ends.

    The signal belongs to the thread that starts the process: start from the main thread.
    """
    program = setpriv()
    if program is None:
        return ()
    return (program, "--pdeathsig", chosen.name, "--", "sh", "-c", STILL_THERE, str(os.getpid()))
