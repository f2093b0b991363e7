"""A real web server for tests, as `make run` starts it, and raw connections to it."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.processes.starting import Process, start_process, stop
from tools.local.runner.plan import WEB, WEB_LIMITS
from tools.local.runner.web import free_port, get

# What tests.config.serving.pages has: its threads, and the length of its file.
THREADS = 2
FILE_BYTES = 24 * 1024 * 1024
START_SECONDS = 60.0
ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class Reply:
    """What came back over a raw connection; `is_closed` says that the server ended it."""

    raw: bytes
    is_closed: bool

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def head(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[0].lower()

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Web:
    """A running server."""

    port: int
    process: Process
    connections: list[socket.socket] = field(default_factory=list)

    def send(self, request: bytes) -> socket.socket:
        """Open a connection, send bytes over it, and leave it open."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        self.connections.append(connection)
        connection.sendall(request)
        return connection

    def talk(self, request: bytes) -> Reply:
        """Send bytes and read until the server closes."""
        return read(self.send(request))

    def get(self, path: str, *lines: str) -> Reply:
        return self.talk(head("GET", path, "Connection: close", *lines))


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode("latin-1")


def read(connection: socket.socket) -> Reply:
    """Read all that comes until the server closes the connection, or for as long as answers may take."""
    came = b""
    try:
        while piece := connection.recv(65536):
            came += piece
    except TimeoutError:
        return Reply(came, is_closed=False)
    finally:
        connection.close()
    return Reply(came, is_closed=True)


@contextmanager
def running_web(application: str, variables: Mapping[str, str] = {}, *, port: int = 0) -> Iterator[Web]:
    """Run the web server with the product's own options until the block ends."""
    port = free_port(port)
    command = (sys.executable, "-m", "granian", *WEB, *WEB_LIMITS, "--workers", "1", "--port", str(port), application)
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **variables}
    web = Web(port, start_process(command, environment))
    try:
        wait_until_it_lives(web)
        yield web
    finally:
        for connection in web.connections:
            connection.close()
        with suppress(subprocess.TimeoutExpired):
            stop(web.process, 20)


def wait_until_it_lives(web: Web) -> None:
    until = time.monotonic() + START_SECONDS
    while get(web.port, "/healthz")[0] != 200:
        if web.process.poll() is not None or time.monotonic() > until:
            raise AssertionError("The web server did not start.")
        time.sleep(0.05)
