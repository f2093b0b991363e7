"""A server on loopback, on an event loop and a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from typing import Self

TURNS = 10
TAKEN_IN_SECONDS = 60.0


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

    def take_in(self) -> None:
        """Return when everything that was sent to it before this call is taken in, however busy its thread is.

        A connection is accepted, then opened, then read: each is a turn of the loop, or two.
        """

        async def turns() -> None:
            for _ in range(TURNS):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(turns(), self._loop).result(TAKEN_IN_SECONDS)

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
