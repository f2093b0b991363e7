"""How long this thread waits for an answer of PostgreSQL's that does not come."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# A statement may last for its `statement_timeout`; a server that says nothing this long after it is silent.
GRACE_SECONDS: Final = 0.5
LEAST_SECONDS: Final = 0.25
CONNECT_SECONDS: Final = 2.0
SILENCE_IS_REMEMBERED_SECONDS: Final = 10.0


class Waits(threading.local):
    """The seconds that this thread waits for an answer; None, as in workers and commands, where it waits for ever.

    A request begins with what its wait for a thread has left of them, so that it ends in time when the database is
    silent. Each answer gives it the whole time again, each silence takes what it lasted.
    """

    whole: float | None = None
    left: float | None = None

    def answered(self) -> None:
        self.left = self.whole

    def unanswered(self, seconds: float) -> None:
        """Remember a silence; the next connection of this process is not waited for in vain once more."""
        global _last_silence
        _last_silence = time.monotonic()
        if self.left is not None:
            self.left = max(LEAST_SECONDS, self.left - seconds)

    @property
    def may_connect(self) -> bool:
        """Whether there is time left for a new connection, or no reason to fear for it."""
        if self.left is None or self.left >= CONNECT_SECONDS:
            return True
        return time.monotonic() > _last_silence + SILENCE_IS_REMEMBERED_SECONDS


_last_silence = -SILENCE_IS_REMEMBERED_SECONDS
waits = Waits()


def set_longest_wait(seconds: float, *, waited: float = 0.0) -> None:
    """Set how long this thread waits from now on; `waited` is what the first answer's time has lost already."""
    waits.whole = seconds
    waits.left = max(LEAST_SECONDS, seconds - waited)


@contextmanager
def longest_wait(seconds: float) -> Iterator[None]:
    """Wait no longer than this for each answer within the block."""
    before = waits.whole, waits.left
    waits.whole = waits.left = seconds
    try:
        yield
    finally:
        waits.whole, waits.left = before
