"""Receivers that never end their answer, each in a different way.

`python -m benchmarks.receivers.endless_receiver` prints the port of each of `WAYS` on a line, in that order.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable

DRIP_SECONDS = 0.2
HEAD = b"HTTP/1.1 200 OK\r\n"
REFRAIN = b"la"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def hang(_: Streams) -> None:
    """Send nothing: no answer, and no TLS handshake."""
    await asyncio.Event().wait()


async def drip_head(streams: Streams) -> None:
    await _drip(streams, HEAD + b"X-Song: ")


async def drip_body(streams: Streams) -> None:
    await _drip(streams, HEAD + b"Content-Length: 10000\r\n\r\n")


async def _drip(streams: Streams, beginning: bytes) -> None:
    reader, writer = streams
    await reader.readuntil(b"\r\n\r\n")
    writer.write(beginning)
    while True:
        writer.write(REFRAIN)
        await writer.drain()
        await asyncio.sleep(DRIP_SECONDS)


async def _open(way: Callable[[Streams], Awaitable[None]]) -> asyncio.Server:
    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await way((reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    return await asyncio.start_server(receive, "127.0.0.1", 0)


def full() -> list[socket.socket]:
    """Give a listener with a full queue, first in the list. The next connection gets no reply at all."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    callers = [listener]
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        callers.append(caller)
    return callers


WAYS = (
    "hangs before it answers",
    "drips its head",
    "drips its body",
    "hangs in the TLS handshake",
    "takes no connection",
)


async def main() -> None:
    servers = [await _open(way) for way in (hang, drip_head, drip_body, hang)]
    queue = full()
    ports = [*(server.sockets[0].getsockname()[1] for server in servers), queue[0].getsockname()[1]]
    print(*ports, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
