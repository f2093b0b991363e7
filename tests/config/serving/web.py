"""A real web server for tests, as `make run` starts it, and raw connections to it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.processes.starting import Process, start_process, stop
from tests.waiting import until
from tools.local.runner.plan import WEB, WEB_LIMITS
from tools.local.runner.web import get

# What tests.config.serving.pages has: its threads, and the length of its file.
THREADS = 2
FILE_BYTES = 24 * 1024 * 1024
ANSWER_SECONDS = 60.0
STOP_SECONDS = 60.0


class Gate:
    """A folder that holds the server's threads until the test opens it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def hold(self) -> None:
        """Called by the server: wait for the test."""
        (self.folder / uuid4().hex).touch()
        until((self.folder / "open").exists, what="the test")

    def wait_for(self, number: int) -> None:
        """Wait until so many are held."""
        until(lambda: len(list(self.folder.iterdir())) >= number, what=f"{number} that are held")

    def open(self) -> None:
        (self.folder / "open").touch()


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
        """Open a connection, send bytes over it, and leave it open.

        The server may answer and close before it has read them all. Its answer can be read then, too.
        """
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_SECONDS)
        self.connections.append(connection)
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
        return connection

    def talk(self, request: bytes) -> Reply:
        """Send bytes and read until the server closes."""
        return read(self.send(request))

    def get(self, path: str, *lines: str) -> Reply:
        return self.talk(head("GET", path, "Connection: close", *lines))

    def close_connections(self) -> None:
        """Leave, as clients do that go."""
        for connection in self.connections:
            connection.close()
        self.connections.clear()


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
    except ConnectionResetError:
        return Reply(came, is_closed=True)
    finally:
        connection.close()
    return Reply(came, is_closed=True)


@contextmanager
def running_web(application: str, variables: Mapping[str, str] = {}, *, port: int = 0) -> Iterator[Web]:
    """Run the web server with the product's own options until the block ends; `port` is one that was reserved."""
    with ExitStack() as stack:
        yield stack.enter_context(_running(application, variables, port or stack.enter_context(reserved_port())))


@contextmanager
def reserved_port() -> Iterator[int]:
    """Keep a port from everybody else: the web server, whose sockets share theirs, can listen there."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


@contextmanager
def _running(application: str, variables: Mapping[str, str], port: int) -> Iterator[Web]:
    command = (sys.executable, "-m", "granian", *WEB, *WEB_LIMITS, "--workers", "1", "--port", str(port), application)
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **variables}
    web = Web(port, start_process(command, environment))
    try:
        wait_until_it_lives(web)
        yield web
    finally:
        web.close_connections()
        with suppress(subprocess.TimeoutExpired):
            stop(web.process, STOP_SECONDS)


def wait_until_it_lives(web: Web) -> None:
    def look() -> bool:
        assert web.process.poll() is None, "The web server did not start."
        return get(web.port, "/healthz")[0] == 200

    until(look, what="the web server", every=0.05)
