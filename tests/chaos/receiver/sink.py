"""A receiver that only takes and counts."""

import asyncio

from tests.chaos.receiver.local_server import LocalServer

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


class Sink(LocalServer):
    """Answers whatever comes; `count` is how many requests that were."""

    def __init__(self) -> None:
        super().__init__(lambda: _Answering(self))
        self.count = 0


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
