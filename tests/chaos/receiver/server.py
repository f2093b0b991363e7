"""The HTTP server of all receivers, in a thread of its own."""

import asyncio
from collections.abc import Callable

from tests.chaos.receiver.arrivals import Arrival, Arrivals
from tests.chaos.receiver.behaviour import Answer
from tests.chaos.receiver.local_server import LocalServer

HEAD_END = b"\r\n\r\n"
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
REFUSED = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
SLOW_SECONDS = 2.0
DRIP_SECONDS = 0.5
# An attempt ends after ten seconds; the next one may be seen before the end of its connection is.
NEARLY_OVER_SECONDS = 9.5


class Receiver(LocalServer):
    """Answers as the behaviour of `arrivals` says, after `delay` seconds."""

    def __init__(self, arrivals: Arrivals, delay: float) -> None:
        super().__init__(lambda: Connection(self))
        self.arrivals = arrivals
        self.delay = delay


class Connection(asyncio.Protocol):
    """One connection; requests come one after the other."""

    transport: asyncio.Transport

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._arrivals = receiver.arrivals
        self._buffer = b""
        self._path = ""
        self._is_open = True
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        self._is_open = False
        self._end()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head_end = self._buffer.find(HEAD_END)
        if head_end < 0:
            return
        first, *fields = self._buffer[:head_end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        end = head_end + len(HEAD_END) + int(headers.get("content-length", "0"))
        if len(self._buffer) >= end:
            body, self._buffer = self._buffer[head_end + len(HEAD_END) : end], self._buffer[end:]
            method, path, _ = first.split(" ", 2)
            self._answer(method, path, headers, body)

    def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self._path = path
        self._arrivals.begin(path)
        taken = self._arrivals.arrive(method, path, headers, body)
        if taken is None:
            self._later(self._receiver.delay, lambda: self._write(REFUSED))
            return
        arrival, answer = taken
        match answer:
            case Answer.OK:
                self._later(self._receiver.delay, lambda: self._succeed(arrival))
            case Answer.SLOW:
                self._later(SLOW_SECONDS, lambda: self._succeed(arrival))
            case Answer.ERROR:
                self._later(self._receiver.delay, lambda: self._write(REFUSED))
            case Answer.CLOSE:  # without a byte of an answer libcurl would take the connection for an old one
                self.transport.write(ENDLESS)
                self.transport.close()
            case Answer.DRIP:
                self.transport.write(ENDLESS)
                self._later(DRIP_SECONDS, self._drip)
                self._later(NEARLY_OVER_SECONDS, self._over(path))
            case Answer.HANG:
                self._later(NEARLY_OVER_SECONDS, self._over(path))

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        self._loop.call_later(seconds, what)

    def _succeed(self, arrival: Arrival) -> None:
        if self._is_open:
            arrival.successes += 1
        self._write(NO_CONTENT)

    def _write(self, answer: bytes) -> None:
        if self._is_open:
            self._end()
            self.transport.write(answer)

    def _drip(self) -> None:
        if self._is_open:
            self.transport.write(b".")
            self._later(DRIP_SECONDS, self._drip)

    def _over(self, path: str) -> Callable[[], None]:
        """Count out an attempt that got no answer, if it is still this one."""
        return lambda: self._end() if self._path == path else None

    def _end(self) -> None:
        """Count the request out once."""
        if self._path:
            self._arrivals.end(self._path)
            self._path = ""
