"""Starts server programs on this machine for a test: on free ports, with folders of their own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.local.parent_death import parent_death_signal

START_SECONDS = 60


def program(*names: str) -> str:
    """Give the first of these programs that is installed; skip the test where none is."""
    for name in names:
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/lib/rabbitmq/bin")
        if found:
            return found
    pytest.skip(f"{names[0]} is not installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def server(
    *command: str,
    ready: Callable[[], bool],
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a server until the block ends."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*parent_death_signal(), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    try:
        until = time.monotonic() + START_SECONDS
        while not ready():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(30)
