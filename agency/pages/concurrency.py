"""Limits what a request waits for outside: something slow must not take all of a web process's threads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ConcurrencyLimit:
    """At most so many at once in this process; nobody waits in line."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Say whether a slot was free; it is given back at the end."""
        is_free = self._free.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                self._free.release()
