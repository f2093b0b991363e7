"""An end to what takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from signal import ITIMER_REAL, SIGALRM, setitimer, signal
from types import FrameType


class LimitReached(Exception):
    """A scenario takes longer than it may."""


class _Whole:
    """How many blocks are under way that nothing may interrupt, and whether one would have been."""

    depth = 0
    was_reached = False


@contextmanager
def limited_to(seconds: float) -> Iterator[None]:
    """Raise `LimitReached` in the midst of what takes longer; call it from the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        if _Whole.depth:
            _Whole.was_reached = True
        else:
            raise LimitReached

    _Whole.was_reached = False
    signal(SIGALRM, stop)
    setitimer(ITIMER_REAL, seconds)
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)


@contextmanager
def as_a_whole() -> Iterator[None]:
    """Put a limit off to the end of the block: a process that starts would be known to nobody who ends it."""
    _Whole.depth += 1
    try:
        yield
    finally:
        _Whole.depth -= 1
    if _Whole.was_reached and not _Whole.depth:
        _Whole.was_reached = False
        raise LimitReached
