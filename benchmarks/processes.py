"""Processes beside a benchmark, such as a receiver and the product's dispatcher; none outlives the run."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from benchmarks.receivers.fast_receiver import loopback
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import WEB, WEB_LIMITS
from tools.local.runner.web import get

PATIENCE_SECONDS = 30.0


class Broken(Exception):
    """The system under measurement did not do its work."""


@contextmanager
def started(
    *command: str, quiet: bool = True, environment: Mapping[str, str] | None = None
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a Python module until the block ends; call it from the main thread."""
    process = subprocess.Popen(
        [*parent_death_signal(), sys.executable, "-m", *command],
        cwd=ROOT,
        env=environment or os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def fast_receiver(addresses: int = 1, certificate: Path | None = None) -> Iterator[list[str]]:
    """Run the fast receiver; give its origin at each of its addresses."""
    arguments = (str(addresses), *([str(certificate)] if certificate else []))
    with started("benchmarks.receivers.fast_receiver", *arguments, quiet=False) as process:
        if process.stdout is None:
            raise Broken("The receiver has no output.")
        port = int(process.stdout.readline())
        process.stdout.close()
        scheme = "https" if certificate else "http"
        yield [f"{scheme}://{address}:{port}" for address in loopback(addresses)]


@contextmanager
def fast_provider() -> Iterator[str]:
    """Run the fast provider; give its origin."""
    with started("benchmarks.receivers.fast_provider", quiet=False) as process:
        if process.stdout is None:
            raise Broken("The provider has no output.")
        port = int(process.stdout.readline())
        process.stdout.close()
        yield f"http://127.0.0.1:{port}"


@dataclass
class ReceiverProcess:
    """A receiver. `at` has the time of each envelope's first byte by its id, in nanoseconds of the monotonic clock."""

    origin: str
    signal: Callable[[int], None]
    at: dict[str, int] = field(default_factory=dict)

    def wait_for(self, ids: set[str]) -> None:
        """Wait until all have arrived. Raises `Broken` if they do not."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not ids <= self.at.keys():
            if time.monotonic() > until:
                raise Broken(f"{len(ids - self.at.keys())} of {len(ids)} events did not arrive.")
            time.sleep(0.02)


@contextmanager
def receiver() -> Iterator[ReceiverProcess]:
    with started("benchmarks.receivers.receiver", quiet=False) as process:
        lines = process.stdout
        if lines is None:
            raise Broken("The receiver has no output.")
        received = ReceiverProcess(f"http://127.0.0.1:{int(lines.readline())}", process.send_signal)

        def read() -> None:
            for line in lines:
                identity, at = line.split()
                received.at.setdefault(identity.decode(), int(at))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            yield received
        finally:
            process.terminate()
            reader.join()
            lines.close()


@contextmanager
def web_server() -> Iterator[int]:
    """Run the web server as `make run` does, without a limit for an address; give its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    address = ("--host", "127.0.0.1", "--port", str(port))
    limits = {**os.environ, "ADDRESS_LIMIT": str(10**9)}
    with started("granian", *WEB, *WEB_LIMITS, *address, "config.asgi:application", environment=limits):
        until = time.monotonic() + PATIENCE_SECONDS
        while get(port, "/healthz")[0] != HTTPStatus.OK:
            if time.monotonic() > until:
                raise Broken("The web server does not answer.")
            time.sleep(0.05)
        yield port


@contextmanager
def dispatcher() -> Iterator[None]:
    """Run the dispatcher as an installation does: a Celery worker for its queue."""
    with started(
        "celery", "-A", "config", "worker", "-Q", "dispatcher", "-c", "1", "--without-gossip", "--without-mingle"
    ):
        from config.celery import app

        app.send_task("webhooks.deliver", queue="dispatcher")
        yield
