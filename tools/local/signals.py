"""Turns ^C, SIGTERM and a closed terminal into one orderly end."""

import signal
from types import FrameType, TracebackType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Raises `KeyboardInterrupt` at the first ending signal only; the later ones ask to hurry."""

    def __init__(self) -> None:
        self.received = 0
        self.armed = True

    def __enter__(self) -> "StopSignals":
        self.before = {number: signal.signal(number, self._receive) for number in ENDING}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received += 1
        if self.armed:
            self.disarm()
            raise KeyboardInterrupt

    def disarm(self) -> None:
        """From here on everything is ending already: a signal no longer interrupts it."""
        self.armed = False

    def asks_to_hurry(self) -> bool:
        return self.received > 1
