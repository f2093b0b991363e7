"""Turns ^C, SIGTERM and a closed terminal into one orderly end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Raises `KeyboardInterrupt` at the first ending signal only. A later signal means: end faster."""

    def __init__(self) -> None:
        self.received = 0
        self.armed = True

    def receive(self, *_: object) -> None:
        self.received += 1
        if self.armed:
            self.ignore_further()
            raise KeyboardInterrupt

    def ignore_further(self) -> None:
        """Let signals interrupt nothing from now on, because the system is ending already."""
        self.armed = False

    def was_repeated(self) -> bool:
        return self.received > 1


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Handle the ending signals until the block ends."""
    signals = StopSignals()
    before = {number: signal.signal(number, signals.receive) for number in ENDING}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
