"""The network between the product and a server: it passes bytes on, falls silent, or resets connections."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

READ_AT_ONCE = 65_536


class Proxy:
    """Listens on a port of this machine and passes on to a Unix socket, in a thread of its own.

    A silent one still accepts connections, and passes on later what it was given meanwhile, as TCP does when a cable
    is plugged in again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.port = 0
        self.held = 0
        self._passes = asyncio.Event()
        self._refuses = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connect, "127.0.0.1", 0, backlog=512), self._loop
        )
        self._on_loop(self._passes.set)
        self.port = int(opened.result(10).sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _close(self) -> None:
        self._reset_all()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def fall_silent(self) -> None:
        """Pass no byte any more, in neither direction; `held` counts the pieces that wait."""
        self.held = 0
        self._on_loop(self._passes.clear)

    def pass_again(self) -> None:
        """Pass on what waits, and everything after it."""
        self._refuses = False
        self._on_loop(self._passes.set)

    def reset(self) -> int:
        """Reset every connection, and those to come until `pass_again`; says how many there were."""
        self._refuses = True
        count = len(self._writers) // 2
        self._on_loop(self._reset_all)
        return count

    def _on_loop(self, what: Callable[[], object]) -> None:
        done = threading.Event()
        self._loop.call_soon_threadsafe(what)
        self._loop.call_soon_threadsafe(done.set)
        done.wait(10)

    def _reset_all(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_unix_connection(str(self.target))
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        try:
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        finally:
            self._writers -= {writer, back}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(READ_AT_ONCE):
                if not self._passes.is_set():
                    self.held += 1
                    await self._passes.wait()
                writer.write(piece)
                await writer.drain()
        if not self._passes.is_set():
            await self._passes.wait()
        with suppress(OSError):
            writer.close()
