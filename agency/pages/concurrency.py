"""Limits on slow outside work, which must not occupy all threads of a web process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ConcurrencyLimit:
    """A limit of concurrent holders in this process; nobody waits for a slot."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Yield whether a slot was free; it is given back at the end."""
        is_free = self._free.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                self._free.release()
