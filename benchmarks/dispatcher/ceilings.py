"""What bounds the dispatcher: the bare loop of its client, and its own pipeline when nothing is sent."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from benchmarks.dispatcher.queue import BODY
from benchmarks.processes import Broken
from config.http.client import Sender
from config.http.exchange import Request, Result
from config.http.guard import VettedTarget, check_without_lookup
from config.http.targets import parse_target
from webhooks.services.endpoints import new_secret
from webhooks.signing import Signer, headers

EVENT = "workspace.created"
ENVELOPE = "6ffab1ba-6168-4bb4-a91c-5b15385dcb04"
IN_FLIGHT = 128


class NoSending:
    """Replaces the sender, and says of every request at once that it was answered."""

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
        head = b"HTTP/1.1 204 No Content\r\nServer: bench\r\n\r\n"
        return [
            Result(one.key, 204, None, now, 0.0, None, None, 0.2, 0.3, "127.0.0.1", True, False, head, b"")
            for one in asked
        ]

    def close(self) -> None:
        self._asked.clear()


def bare_loop(urls: Sequence[str], requests: int) -> float:
    """Sign and send so many with the client alone; gives microseconds for each."""
    sender, one = Sender(ca_file=settings.WEBHOOK_CA_FILE or None), Signer(new_secret())
    targets = [_vetted(url) for url in urls]
    begun = done = 0
    began = time.perf_counter()
    while done < requests:
        while sender.in_flight < IN_FLIGHT and begun < requests:
            signature = one.sign(envelope_id=ENVELOPE, timestamp=int(time.time()), body=BODY)
            request_headers = headers(event=EVENT, envelope_id=ENVELOPE, signature=signature)
            sender.submit(Request(begun, targets[begun % len(targets)], request_headers, BODY))
            begun += 1
        done += len(sender.poll(1))
    took = time.perf_counter() - began
    sender.close()
    return took / requests * 1e6


def _vetted(url: str) -> VettedTarget:
    vetted = check_without_lookup(parse_target(url), allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    if vetted is None:
        raise Broken("The receiver's address was refused.")
    return vetted
