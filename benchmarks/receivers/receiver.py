"""A receiver of webhooks in a separate process: it answers 204 and prints the time of each first byte.

`python -m benchmarks.receivers.receiver` prints its port, then a line for each delivery: the envelope's id and the
monotonic clock in nanoseconds, which all processes of a machine share. From SIGUSR1 until SIGUSR2 it does not answer
requests to `/hang`.
"""

import asyncio
import re
import signal
import sys
import time

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
HEAD_END = b"\r\n\r\n"
DELIVERY = re.compile(rb"\r\nx-svc-delivery: *([0-9a-f-]+)\r\n", re.IGNORECASE)
HANGING = re.compile(rb"POST /hang")
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


class HangingRequests:
    """Whether requests to `/hang` get no answer, and the connections that wait for one."""

    def __init__(self) -> None:
        self.is_hanging = False
        self.waiting: list[asyncio.Transport] = []

    def hang_requests(self) -> None:
        self.is_hanging = True

    def end(self) -> None:
        self.is_hanging = False
        for transport in self.waiting:
            transport.write(ANSWER)
        self.waiting.clear()


class Receiver(asyncio.Protocol):
    """Answers one request after the other on a kept connection."""

    def __init__(self, hanging: HangingRequests) -> None:
        self.hanging = hanging
        self.buffer = b""
        self.first_byte_at = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # a TCP server gives such a transport

    def data_received(self, data: bytes) -> None:
        if not self.buffer:
            self.first_byte_at = time.monotonic_ns()
        self.buffer += data
        while (end := self._end_of_request()) and len(self.buffer) >= end:
            self._record(self.buffer[:end])
            if self.hanging.is_hanging and HANGING.match(self.buffer):
                self.hanging.waiting.append(self.transport)
            else:
                self.transport.write(ANSWER)
            self.buffer = self.buffer[end:]

    def _end_of_request(self) -> int:
        head = self.buffer.find(HEAD_END)
        length = LENGTH.search(self.buffer[: head + 2]) if head >= 0 else None
        return head + len(HEAD_END) + int(length[1]) if length else 0

    def _record(self, request: bytes) -> None:
        found = DELIVERY.search(request)
        if found:
            sys.stdout.write(f"{found[1].decode()} {self.first_byte_at}\n")
            sys.stdout.flush()


async def main() -> None:
    loop, hanging = asyncio.get_running_loop(), HangingRequests()
    loop.add_signal_handler(signal.SIGUSR1, hanging.hang_requests)
    loop.add_signal_handler(signal.SIGUSR2, hanging.end)
    server = await loop.create_server(lambda: Receiver(hanging), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
