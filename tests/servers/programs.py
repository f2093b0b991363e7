"""Starts server programs on this machine for a test: on free ports, with folders of their own."""

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.starting import Process, new_log, start_process, stop

START_SECONDS = 60


def program(*names: str) -> str:
    """Give the first of these programs that is installed; skip the test where none is."""
    for name in names:
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/lib/rabbitmq/bin")
        if found:
            return found
    pytest.skip(f"{names[0]} is not installed")


def free_port() -> int:
    """Give a port for a server; it stays bound here, so that the system gives it to nobody else meanwhile."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        bound.detach()
        return port


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def unread(port: int) -> int:
    """Say how many bytes were sent to a server at this port that it has not read."""
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    queues = [queues for _, own, _, _, queues, *_ in sockets if own.endswith(f":{port:04X}")]
    return sum(int(incoming, 16) for _, incoming in (queue.split(":") for queue in queues))


@contextmanager
def server(*command: str, ready: Callable[[], bool], environment: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run a server until the block ends."""
    log = new_log()
    process = start_process(command, {**os.environ, **(environment or {})}, log=log)
    try:
        until = time.monotonic() + START_SECONDS
        while not ready():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        yield process
    finally:
        stop(process)
