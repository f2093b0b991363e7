"""Ties a process to the one that starts it, so that a `kill -9` of the runner leaves nothing behind."""

import os
import shutil
from functools import lru_cache
from signal import SIGTERM, Signals

from tools.local.servers.account import works

# The kernel reports only deaths from here on: look whether the parent is still there, then step aside.
STILL_THERE = '[ "$PPID" = "$0" ] && exec "$@"'


@lru_cache(maxsize=1)
def setpriv() -> str | None:
    """Give the program that can ask the kernel for this; other systems than Linux have none."""
    found = shutil.which("setpriv")
    return found if found and works(found, "--pdeathsig", "TERM", "--", "true") else None


def parent_death_signal(chosen: Signals = SIGTERM) -> tuple[str, ...]:
    """Give the arguments before a command that make the kernel signal it when the calling thread is gone.

    The signal belongs to the thread that starts the process: start from the main thread.
    """
    program = setpriv()
    if program is None:
        return ()
    return (program, "--pdeathsig", chosen.name, "--", "sh", "-c", STILL_THERE, str(os.getpid()))
