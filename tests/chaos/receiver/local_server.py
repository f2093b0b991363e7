"""A server on loopback, on an event loop and a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from typing import Self
from weakref import WeakSet

TURNS = 10
TAKEN_IN_SECONDS = 60.0


class LocalServer:
    """Listens while it is open; `protocol` makes what answers each connection."""

    def __init__(self, protocol: Callable[[], asyncio.Protocol]) -> None:
        self.port = 0
        self._protocol = protocol
        self._protocols: WeakSet[asyncio.Protocol] = WeakSet()
        self._server: asyncio.Server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opening = self._loop.create_server(self._open, "127.0.0.1", 0, backlog=2048)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result(30)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    def _open(self) -> asyncio.Protocol:
        made = self._protocol()
        self._protocols.add(made)
        return made

    def take_in(self) -> None:
        """Return when everything that was sent to it before this call is taken in, however busy its thread is.

        A connection is accepted, then opened, then read: each is a turn of the loop, or two.
        """

        async def turns() -> None:
            for _ in range(TURNS):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(turns(), self._loop).result(TAKEN_IN_SECONDS)

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    async def _close(self) -> None:
        """Take no connection any more, and drop those there are."""
        self._server.close()
        for protocol in self._protocols:
            if transport := getattr(protocol, "transport", None):
                transport.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
