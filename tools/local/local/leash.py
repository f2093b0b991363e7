"""Ties a process to the one that starts it, so that a `kill -9` of the runner leaves nothing behind."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tools.local.account import works

SERVER_PROGRAMS = ("postgres", "valkey-server", "redis-server")
PROC = Path("/proc")
# The kernel tells only of deaths from here on: look whether the parent is still there, then step aside.
STILL_THERE = '[ "$PPID" = "$0" ] && exec "$@"'


@lru_cache(maxsize=1)
def setpriv() -> str | None:
    """Give the program that can ask the kernel for this; other systems have none."""
    found = shutil.which("setpriv")
    return found if found and works(found, "--pdeathsig", "TERM", "--", "true") else None


def leash(signal_name: str) -> tuple[str, ...]:
    """Give the words before a command that make the kernel signal it when the calling thread is gone.

    The signal belongs to the thread that starts the process: start from the main thread.
    """
    program = setpriv()
    if program is None:
        return ()
    return (program, "--pdeathsig", signal_name, "--", "sh", "-c", STILL_THERE, str(os.getpid()))


def processes_at_work_in(folder: Path, *, proc: Path = PROC) -> list[int]:
    """Give the ids of servers that use this data folder, whoever started them."""
    return list(_by_working_folder(folder, proc) if proc.is_dir() else _by_command_line(folder))


def _by_working_folder(folder: Path, proc: Path) -> Iterator[int]:
    for entry in proc.glob("[0-9]*"):
        try:
            same_folder = os.readlink(entry / "cwd") == str(folder)
            program = os.path.basename(os.readlink(entry / "exe"))
        except OSError:  # ended meanwhile, or another user's
            continue
        if same_folder and program.startswith(SERVER_PROGRAMS):
            yield int(entry.name)


def _by_command_line(folder: Path) -> Iterator[int]:
    if not shutil.which("ps"):
        return
    listing = subprocess.run(["ps", "-axwwo", "pid=,command="], capture_output=True, text=True, check=False).stdout
    for line in listing.splitlines():
        pid, _, command = line.strip().partition(" ")
        words = command.split()
        if words and os.path.basename(words[0]).startswith(SERVER_PROGRAMS) and str(folder) in command:
            yield int(pid)


def end_orphans_of(folder: Path, *, with_signal: signal.Signals, patience: float = 10) -> None:
    """End servers that an earlier runner left in this data folder; call it only under the folder's lock."""
    until = time.monotonic() + patience
    chosen = with_signal
    while found := processes_at_work_in(folder):
        if time.monotonic() > until:
            chosen = signal.SIGKILL
        for pid in found:
            _send(pid, chosen)
        time.sleep(0.1)


def _send(pid: int, chosen: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, chosen)
