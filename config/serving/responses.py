"""Takes an answer from a thread to the client: whole, as a file, or piece by piece as it is made."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, Protocol

from config.serving.bodies import Receive

Send = Callable[[Mapping[str, Any]], Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

PIECE_BYTES: Final = 64 * 1024
AHEAD_IN_MEMORY_BYTES: Final = 256 * 1024
# A stream may be this far ahead of its client. Beyond it the thread waits, and a client that takes nothing is given up.
MOST_AHEAD_BYTES: Final = 64 * 1024 * 1024
STALLED_SECONDS: Final = 10.0

# Reading a file may wait for a disk. Neither the event loop nor a request's thread should wait for that.
_file_readers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="files")


class ClientGone(Exception):
    """The client does not wait for the rest of an answer any more, or the rest cannot be made."""


class Stream:
    """Pieces of an answer, in order, from the thread that makes them to the client.

    They are passed on at once. A slow client does not hold the thread: the pieces wait in memory, then on disk.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._changed = asyncio.Event()
        self._room = threading.Condition()
        self._waiting: IO[bytes] = SpooledTemporaryFile(AHEAD_IN_MEMORY_BYTES)  # noqa: SIM115  # see `close`
        self._read = self._written = 0
        self._has_ended = self._is_cut = self._client_has_gone = False

    def write(self, piece: bytes) -> None:
        """Add a piece; the thread calls this. Raises `ClientGone`, also if the client takes nothing for too long."""
        with self._room:
            while self._written - self._read > MOST_AHEAD_BYTES and not self._client_has_gone:
                if not self._room.wait(STALLED_SECONDS):
                    raise ClientGone
            if self._client_has_gone:
                raise ClientGone
            self._waiting.seek(self._written)
            self._waiting.write(piece)
            self._written += len(piece)
        self._loop.call_soon_threadsafe(self._changed.set)

    def end(self, *, is_cut: bool = False) -> None:
        """Record that the last piece was written, or with `is_cut` that the rest cannot be made."""
        with self._room:
            self._has_ended, self._is_cut = True, is_cut
        self._loop.call_soon_threadsafe(self._changed.set)

    def leave(self) -> None:
        """Record that the client has gone. The thread learns of it with its next piece."""
        with self._room:
            self._client_has_gone = True
            self._room.notify()
        self._changed.set()

    async def read(self) -> bytes:
        """Return what there is to send; nothing after the last piece. Raises `ClientGone` if it cannot go on."""
        while True:
            self._changed.clear()
            with self._room:
                piece = self._take()
                if piece:
                    return piece
                if self._client_has_gone or self._is_cut:
                    raise ClientGone
                if self._has_ended:
                    return b""
            await self._changed.wait()

    def _take(self) -> bytes:
        self._waiting.seek(self._read)
        piece = self._waiting.read(PIECE_BYTES)
        self._read += len(piece)
        if self._read == self._written:
            self._waiting.seek(0)
            self._waiting.truncate()
            self._read = self._written = 0
        if piece:
            self._room.notify()
        return piece

    def close(self) -> None:
        with self._room:
            self._waiting.close()


class FileStream:
    """A file on its way to the client. It holds none of the requests' threads."""

    def __init__(self, file: Any, size: int) -> None:
        self.file, self.size = file, size

    async def read(self) -> bytes:
        loop = asyncio.get_running_loop()
        piece: bytes = await loop.run_in_executor(_file_readers, self.file.read, self.size)
        return piece

    def leave(self) -> None:
        """Do nothing: no thread waits for the client."""

    def close(self) -> None:
        _file_readers.submit(self.file.close)


async def send_whole(send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a complete answer."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Pieces(Protocol):
    """An answer in pieces. `read` returns nothing at its end and raises `ClientGone` if it cannot go on."""

    async def read(self) -> bytes: ...

    def leave(self) -> None: ...

    def close(self) -> None: ...


async def send_stream(send: Send, receive: Receive, status: int, headers: RawHeaders, stream: Pieces) -> None:
    """Send pieces at the client's speed, until the end or until the client has gone."""
    watch = asyncio.ensure_future(_watch_client(receive, stream))
    try:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while piece := await stream.read():
            if watch.done():
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        watch.cancel()
        stream.leave()
        stream.close()


async def _watch_client(receive: Receive, stream: Pieces) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.leave()
