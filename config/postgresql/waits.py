"""How long this thread waits for an answer from PostgreSQL."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# A statement may take its `statement_timeout`. If the server says nothing this long after it, it is silent.
GRACE_SECONDS: Final = 0.5
LEAST_SECONDS: Final = 0.25
CONNECT_SECONDS: Final = 2.0
SILENCE_IS_REMEMBERED_SECONDS: Final = 10.0


class Waits(threading.local):
    """The seconds that this thread waits for an answer. None, the default, means for ever.

    A request begins with the seconds that its wait for a thread has left, so that it ends in time if the database is
    silent. Each answer restores the whole time, and each silence takes off the time it lasted.
    """

    whole: float | None = None
    left: float | None = None

    def answered(self) -> None:
        self.left = self.whole

    def unanswered(self, seconds: float) -> None:
        """Record a silence, so that this process's next connection does not wait in vain once more."""
        global _last_silence
        _last_silence = time.monotonic()
        if self.left is not None:
            self.left = max(LEAST_SECONDS, self.left - seconds)

    @property
    def may_connect(self) -> bool:
        """Whether a new connection may be tried: enough time is left, or the last silence was long ago."""
        if self.left is None or self.left >= CONNECT_SECONDS:
            return True
        return time.monotonic() > _last_silence + SILENCE_IS_REMEMBERED_SECONDS


_last_silence = -SILENCE_IS_REMEMBERED_SECONDS
waits = Waits()


def set_longest_wait(seconds: float, *, waited: float = 0.0) -> None:
    """Set how long this thread waits from now on. `waited` shortens the wait for the first answer."""
    waits.whole = seconds
    waits.left = max(LEAST_SECONDS, seconds - waited)


@contextmanager
def longest_wait(seconds: float) -> Iterator[None]:
    """Wait at most this long for each answer within the block."""
    before = waits.whole, waits.left
    waits.whole = waits.left = seconds
    try:
        yield
    finally:
        waits.whole, waits.left = before
