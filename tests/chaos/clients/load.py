"""All clients of a scenario at work, each in a thread of its own."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.chaos.clients.client import Client


class Load:
    """Starts the clients and ends them."""

    def __init__(self, clients: Sequence[Client], stopping: threading.Event) -> None:
        self.clients = clients
        self.stopping = stopping
        self._threads = [threading.Thread(target=client.run, daemon=True) for client in clients]

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self.stop()

    def stop(self) -> None:
        """Let each client bring its step to an end."""
        self.stopping.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(60)

    @property
    def is_running(self) -> bool:
        return not self.stopping.is_set() and all(thread.is_alive() for thread in self._threads)

    @property
    def wrong(self) -> list[str]:
        return [sentence for client in self.clients for sentence in client.wrong]
