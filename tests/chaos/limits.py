"""An end to what takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from signal import ITIMER_REAL, SIGALRM, setitimer, signal
from types import FrameType


class LimitReached(Exception):
    """A scenario takes longer than it may."""


@contextmanager
def limited_to(seconds: float) -> Iterator[None]:
    """Raise `LimitReached` in the midst of what takes longer; call it from the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise LimitReached

    signal(SIGALRM, stop)
    setitimer(ITIMER_REAL, seconds)
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)
