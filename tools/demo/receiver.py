"""A receiver of webhooks on this machine: it answers every POST with 204 and keeps the request."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue

LARGEST_BODY = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One POST: headers by lower-case name, the body, and the time (monotonic) at which the head had arrived."""

    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class Receiver:
    url: str
    # The `SimpleQueue` of Python 3.11.2, which Debian 12 has, may wait for ever if the timeout is short.
    requests: "Queue[ReceivedRequest]" = field(default_factory=Queue)

    def next(self, seconds: float) -> ReceivedRequest | None:
        """Wait at most so many seconds for the next request; give it, or None."""
        try:
            return self.requests.get(timeout=max(seconds, 0))
        except Empty:
            return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    receiver: Receiver


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        at = time.monotonic()
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.send_error(413)
            return
        body = self.rfile.read(length)
        self.send_response(204)
        self.end_headers()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.receiver.requests.put(ReceivedRequest(headers, body, at))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the demonstration shows each event itself."""


@contextmanager
def open_receiver() -> Iterator[Receiver]:
    """Listen on a free port of 127.0.0.1 until the block ends."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.receiver = Receiver(f"http://127.0.0.1:{server.server_port}/events")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.receiver
        finally:
            server.shutdown()
            thread.join()
