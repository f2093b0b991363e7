"""Looks at processes by their ids."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

PATIENCE_SECONDS = 60.0


def is_alive(pid: int) -> bool:
    """A process that ended and waits to be noticed by its parent counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state not in "ZX"


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def eventually(holds: Callable[[], bool]) -> bool:
    """Say whether something comes true within a minute."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def all_gone(pids: Iterable[int]) -> bool:
    """Say whether all of them end within a minute."""
    watched = list(pids)
    return eventually(lambda: not any(is_alive(pid) for pid in watched))
