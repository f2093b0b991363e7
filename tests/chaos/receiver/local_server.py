"""A server on loopback, on an event loop and a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from typing import Self


class LocalServer:
    """Listens while it is open; `protocol` makes what answers each connection."""

    def __init__(self, protocol: Callable[[], asyncio.Protocol]) -> None:
        self.port = 0
        self._protocol = protocol
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(
            self._loop.create_server(self._protocol, "127.0.0.1", 0, backlog=2048), self._loop
        )
        self.port = int(opened.result(10).sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
