"""A receiver that counts: which envelope came when, and how often."""

import asyncio
import re
import threading
import time
from collections import Counter
from itertools import pairwise

HEAD_END = b"\r\n\r\n"
DELIVERY = re.compile(rb"\r\nx-svc-delivery: *([0-9a-f-]+)\r\n", re.IGNORECASE)
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class CountingReceiver:
    """Answers 204 after `delay` seconds, in a thread of its own; `times` counts the arrivals of each envelope."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.times: Counter[str] = Counter()
        self.moments: list[float] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "CountingReceiver":
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(
            self._loop.create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=1024), self._loop
        )
        self.port = int(opened.result(10).sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def record_arrival(self, envelope: str) -> None:
        self.times[envelope] += 1
        self.moments.append(time.monotonic())

    @property
    def idle_seconds(self) -> float:
        """How long ago the latest arrival was."""
        return time.monotonic() - self.moments[-1] if self.moments else 0.0

    @property
    def longest_pause(self) -> float:
        """The longest time without an arrival, between the first and the last."""
        return max((later - earlier for earlier, later in pairwise(self.moments)), default=0.0)


class Connection(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self, receiver: CountingReceiver) -> None:
        self._receiver = receiver
        self._buffer = b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(HEAD_END)
        length = LENGTH.search(self._buffer[: head + 2]) if head >= 0 else None
        end = head + len(HEAD_END) + int(length[1]) if length else 0
        if end and len(self._buffer) >= end:
            found = DELIVERY.search(self._buffer[:end])
            self._buffer = self._buffer[end:]
            if found:
                self._receiver.record_arrival(found[1].decode())
            self._loop.call_later(self._receiver.delay, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(ANSWER)  # type: ignore[attr-defined]  # a TCP transport writes
