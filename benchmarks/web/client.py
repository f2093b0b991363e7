"""Clients for the web server's benchmarks: callers that measure, and slow senders that hold connections."""

import contextlib
import http.client
import os
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import Broken, started
from tools.local.runner.plan import WEB, WEB_LIMITS
from tools.local.runner.web import free_port, get

LIST = "/api/agency/v1/workspaces"
NANOSECONDS = 1e9
START_SECONDS = 60.0


@dataclass
class Calls:
    """The seconds of each call, and the number of calls by status or fault."""

    seconds: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        return self.outcomes.total() - self.outcomes["200"]


@contextmanager
def server(*options: str, application: str = "config.asgi:application", **variables: str) -> Iterator[int]:
    """Run the web server until the block ends; give its port."""
    port = free_port(0)
    command = ("granian", *(options or (*WEB, *WEB_LIMITS)), "--port", str(port), application)
    with started(*command, environment={**os.environ, "PROCESS_NAME": "web", **variables}) as process:
        until = time.monotonic() + START_SECONDS
        while get(port, "/readyz")[0] != 200:
            if process.poll() is not None or time.monotonic() > until:
                raise Broken("The web server did not start.")
            time.sleep(0.05)
        yield port


def one_call(connection: http.client.HTTPConnection, key: str, calls: Calls, **headers: str) -> None:
    """Make a call and note its time and outcome."""
    begun = time.monotonic()
    try:
        connection.request("GET", LIST, headers={"x-api-key": key, **headers})
        answer = connection.getresponse()
        answer.read()
        outcome = str(answer.status)
    except (OSError, http.client.HTTPException) as fault:
        outcome = type(fault).__name__
        connection.close()
    calls.seconds.append(time.monotonic() - begun)
    calls.outcomes[outcome] += 1


@contextmanager
def calling(port: int, key: str, clients: int) -> Iterator[Calls]:
    """Let `clients` clients call over kept connections until the block ends."""
    calls, stopped = Calls(), threading.Event()

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while not stopped.is_set():
            one_call(connection, key, calls)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield calls
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def allow_files(number: int) -> None:
    """Let this process open `number` connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))


@contextmanager
def held(port: int, request: bytes, number: int, *, drip_seconds: float = 0.0) -> Iterator[None]:
    """Hold connections, each with the beginning of a request. With `drip_seconds` each sends a byte at that interval.

    A connection that the server closes is opened again at the next byte, so that the number stays.
    """
    allow_files(number + 500)
    connections = [_begun(port, request) for _ in range(number)]
    stopped = threading.Event()

    def drip() -> None:
        while not stopped.wait(drip_seconds):
            for place, connection in enumerate(connections):
                try:
                    connection.send(b"x")
                except OSError:
                    connection.close()
                    with contextlib.suppress(OSError):
                        connections[place] = _begun(port, request)

    thread = threading.Thread(target=drip)
    if drip_seconds:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        if drip_seconds:
            thread.join()
        for connection in connections:
            connection.close()


def _begun(port: int, request: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(request)
    return connection


def cpu_seconds(port: int) -> float:
    """Give the CPU time of all processes of the server on this port."""
    mark = f"--port\0{port}\0".encode()
    return sum(
        _cpu_of(process) for process in Path("/proc").iterdir() if process.name.isdigit() and _is_of(process, mark)
    )


def _is_of(process: Path, mark: bytes) -> bool:
    try:
        return mark in (process / "cmdline").read_bytes()
    except OSError:
        return False


def _cpu_of(process: Path) -> float:
    with contextlib.suppress(OSError):
        tasks = (process / "task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / NANOSECONDS
    return 0.0
