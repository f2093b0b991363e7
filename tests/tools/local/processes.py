"""Looks at processes by their ids."""

from collections.abc import Iterable
from pathlib import Path

from tests.waiting import until


def is_alive(pid: int) -> bool:
    """A process that ended and waits to be noticed by its parent counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state not in "ZX"


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def all_gone(pids: Iterable[int]) -> bool:
    """Wait until none of these processes is left."""
    watched = list(pids)
    return until(lambda: not any(is_alive(pid) for pid in watched), what=f"the end of {watched}")
