"""Turns at the provider: a slow one must not take all of a web process's threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_AT_ONCE = 2


class Turns:
    """At most so many conversations with providers at once in this process; nobody waits in line."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Say whether a turn was free; it is given back at the end."""
        is_ours = self._free.acquire(blocking=False)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._free.release()


TURNS = Turns(MOST_AT_ONCE)
