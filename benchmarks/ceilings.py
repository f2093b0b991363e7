"""Two upper bounds for a program that sends over HTTP: its client's bare loop, and the program without sending."""

import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

from config.http.client import HTTPClient
from config.http.transfer import Request, Result


class NoSending:
    """Replaces the client, and answers every request at once without sending it."""

    status: ClassVar[int]
    head: ClassVar[bytes]
    was_idle = False

    def __init__(self, **_: Any) -> None:
        self._asked: list[Request] = []
        self._woken = threading.Event()

    def submit(self, request: Request) -> None:
        self._asked.append(request)

    def wake(self) -> None:
        self._woken.set()

    def poll(self, timeout_s: float) -> list[Result]:
        if not self._asked:
            self._woken.wait(timeout_s)
            self._woken.clear()
        asked, self._asked, now = self._asked, [], time.time()
        status, head, body = self.status, self.head, self.body
        return [
            Result(one.key, status, None, now, 0.0, None, None, 0.2, 0.3, "127.0.0.1", True, False, head, body(one.key))
            for one in asked
        ]

    @staticmethod
    def body(key: int) -> bytes:
        """Give the body of the answer to the request with this key."""
        return b""

    def close(self) -> None:
        self._asked.clear()


def send_all(sender: HTTPClient, make: Callable[[int], Request], *, requests: int, in_flight: int) -> None:
    """Send `requests` requests with the client alone, at most `in_flight` at a time."""
    begun = done = 0
    while done < requests:
        while sender.in_flight < in_flight and begun < requests:
            sender.submit(make(begun))
            begun += 1
        done += len(sender.poll(1))
    sender.close()
