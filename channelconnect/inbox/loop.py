"""The loop of a reader. The web process wakes it for new callbacks, and it looks by itself once a second."""

import threading
from collections.abc import Callable
from typing import Final

from channelconnect.inbox.reading import Reader
from channelconnect.inbox.storing import WAKE_UP
from config.garbage_collection import rare_collections
from config.leases.claimer import WakeUpListener

IDLE_SECONDS: Final = 1.0


def run_reader(*, should_stop: Callable[[], bool], idle_seconds: float = IDLE_SECONDS) -> None:
    """Read callbacks until `should_stop`."""
    woken, reader = threading.Event(), Reader()
    listener = WakeUpListener(WAKE_UP, woken.set)
    listener.thread.start()
    try:
        with rare_collections():
            while not should_stop():
                woken.clear()
                if not reader.read_round():
                    woken.wait(idle_seconds)
    finally:
        listener.stop()
