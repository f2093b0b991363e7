"""Callers that hold what they should not: bodies half sent, and bytes one by one."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.chaos.workload import Workload

HALF = (
    b"POST /connect/provider-events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"X-Hub-Signature-256: sha256=00\r\nContent-Length: 100000\r\n\r\n" + b"{" + b" " * 1000
)


def _open(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.sendall(HALF)
    return connection


@contextmanager
def half_bodies(workload: Workload, count: int) -> Iterator[list[socket.socket]]:
    """Hold so many requests whose bodies never come whole."""
    held: list[socket.socket] = []
    if workload.has_traffic():
        for _ in range(count):
            with suppress(OSError):
                held.append(_open(workload.system.port))
        workload.injections.count("half bodies held", happened=len(held) == count)
    try:
        yield held
    finally:
        for connection in held:
            connection.close()


def drip(connections: list[socket.socket]) -> int:
    """Send one more byte of each body; says how many are still open."""
    still = 0
    for connection in connections:
        with suppress(OSError):
            connection.send(b" ")
            still += 1
    return still
