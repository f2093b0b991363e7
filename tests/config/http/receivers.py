"""Real receivers on the loopback interface, well-behaved and hostile, and ways to post to them."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_network
from typing import Any, NamedTuple

import trustme

from config.http.client import HTTPClient
from config.http.guard import VettedTarget, check_addresses, parse_target
from config.http.transfer import Request, Result
from tests.document.recording import watch_envelope

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
BODY = b'{"id":"7d4f3a0e-38a5-4a5b-9d0a-2f3c58a0b1c2"}'
HEADERS = (("Content-Type", "application/json"), ("User-Agent", "Svc-Agency-Webhooks/1.0"))
# Longer than any test waits for an answer.
LONG_SECONDS = 600
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


class Received(NamedTuple):
    """A request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


class Connection:
    """One accepted connection, with what a behaviour needs to misbehave."""

    def __init__(self, raw: socket.socket, receiver: "Receiver") -> None:
        self.socket = raw
        self.receiver = receiver
        self.sent = 0

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)
        self.sent += len(data)

    def drip(self, data: bytes, *, every_s: float) -> None:
        """Send a byte at a time until the receiver is closed or the sender hangs up."""
        for byte in data:
            if self.receiver.closing.wait(every_s):
                return
            self.send(bytes([byte]))

    def hang(self) -> None:
        self.receiver.closing.wait(LONG_SECONDS)

    def read_request(self) -> Received | None:
        """The next request, or None where the sender has hung up."""
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := self.socket.recv(65536)):
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        while len(body) < int(headers.get("content-length", 0)):
            body += self.socket.recv(65536)
        if "x-svc-signature" in headers:  # what the product delivers, rather than a test of the sender alone
            watch_envelope(body)
        return Received(line, headers, body)


Behaviour = Callable[[Connection], None]


def answer(data: bytes = NO_CONTENT) -> Behaviour:
    """Give every request on a connection the same answer."""

    def behave(connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            connection.send(data)

    return behave


def after_request(act: Behaviour) -> Behaviour:
    """Read one request, then do something unusual and hang up."""

    def behave(connection: Connection) -> None:
        if (request := connection.read_request()) is not None:
            connection.receiver.requests.append(request)
            act(connection)

    return behave


class Receiver:
    """A server with a thread for each connection, each of which does as `behaviour` says.

    `is_reserved` says that the port is one of `tests.config.serving.web.reserved_port`.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        is_reserved: bool = False,
    ) -> None:
        self.requests: list[Received] = []
        self.connections: list[Connection] = []
        self.server_names: list[str | None] = []
        self.closing = threading.Event()
        self._behaviour = behaviour
        self._tls = tls
        if tls is not None:
            tls.sni_callback = lambda _socket, name, _context: self.server_names.append(name)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=256, reuse_port=is_reserved)
        self.host, self.port = host, int(self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def vetted(self, name: str = "hooks.acme.io", path: str = "/", *addresses: str) -> VettedTarget:
        """The way to this receiver, as if `name` resolved to `addresses` (by default where it listens)."""
        scheme = "https" if self._tls else "http"
        target = parse_target(f"{scheme}://{name}:{self.port}{path}")
        return check_addresses(target, addresses or [self.host], allowed=LOOPBACK)

    def vetted_for_tls(self) -> VettedTarget:
        """The way to this receiver for somebody who takes it for an https one."""
        target, addresses = self.vetted()
        return VettedTarget(parse_target(target.url.replace("http:", "https:")), addresses)

    def close(self) -> None:
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self.connections:
            with suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(60)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(raw,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, raw: socket.socket) -> None:
        connection = Connection(raw, self)
        self.connections.append(connection)
        with suppress(OSError):
            if self._tls is not None:
                connection.socket = self._tls.wrap_socket(raw, server_side=True)
            self._behaviour(connection)
        with suppress(OSError):
            connection.socket.close()
        raw.close()


def server_tls(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """What a receiver needs to speak TLS under these names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def request_to(vetted: VettedTarget, *, key: int = 1, **changes: Any) -> Request:
    return Request(key, vetted, HEADERS, BODY)._replace(**changes)


def post_all(sender: HTTPClient, requests: Sequence[Request], *, within_s: float = 90) -> dict[int, Result]:
    """Submit requests together and wait for all their results."""
    for request in requests:
        sender.submit(request)
    results: dict[int, Result] = {}
    end = time.monotonic() + within_s
    while len(results) < len(requests) and time.monotonic() < end:
        results.update((result.key, result) for result in sender.poll(0.2))
    assert len(results) == len(requests), "some requests never ended"
    return results


def post(sender: HTTPClient, vetted: VettedTarget, **changes: Any) -> Result:
    """Post once and wait for the result."""
    return post_all(sender, [request_to(vetted, **changes)])[1]
