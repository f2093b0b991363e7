"""A receiver that only takes and counts."""

import asyncio
import threading
from typing import Self

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


class Sink:
    """Answers whatever comes; `count` is how many requests that were."""

    def __init__(self) -> None:
        self.count = 0
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(
            self._loop.create_server(lambda: _Answering(self), "127.0.0.1", 0, backlog=2048), self._loop
        )
        self.port = int(opened.result(10).sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


class _Answering(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        requests = data.count(b"\r\n\r\n")  # small requests, each of which comes in one piece
        self._sink.count += requests
        self.transport.write(NO_CONTENT * requests)
