"""PostgreSQL stopped, crashed, and its backends killed."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.chaos.system.processes import is_gone
from tests.chaos.workload import Workload

STOPS = {"fast stop": signal.SIGINT, "immediate stop": signal.SIGQUIT, "kill of the postmaster": signal.SIGKILL}


def stop(workload: Workload, kind: str, *, away: float) -> None:
    """End PostgreSQL in one of three ways and start it again after a while."""
    if not workload.has_traffic():
        return
    with workload.excusing(overlap=True, breaks_connections=True):
        server = workload.system.servers.postgres
        server.stop(STOPS[kind])
        workload.injections.count(kind, happened=not server.is_running)
        workload.rest(away)
        server.start()
    note_return(workload, kind)


def kill_backend(workload: Workload) -> None:
    """kill -9 of one backend of the product, after which PostgreSQL restarts all of them.

    Only when all are gone has it begun to: what it answers before is lost with what was not written yet.
    """
    backends = workload.system.backends() if workload.has_traffic() else []
    if not backends:
        return
    with workload.excusing(overlap=True, breaks_connections=True):
        os.kill(workload.rng.choice(backends), signal.SIGKILL)
        workload.injections.count("kill of a backend", happened=all(is_gone(backend) for backend in backends))
        wait_until_up(workload)
    note_return(workload, "kill of a backend")


def wait_until_up(workload: Workload, seconds: float = 30.0) -> None:
    """Wait until PostgreSQL takes connections again, starting it where it has ended."""
    server = workload.system.servers.postgres
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not server.is_running:
            server.start()
        if server.answers():
            return
        workload.rest(0.1)


def note_return(workload: Workload, what: str) -> None:
    """Wait until deliveries arrive and calls are answered again."""
    back_at = time.monotonic()
    workload.returns.append((workload.goes_on(back_at), what))


@contextmanager
def silent(workload: Workload) -> Iterator[None]:
    """Pass no byte between the product and PostgreSQL."""
    with workload.excusing(overlap=True):
        workload.system.database.fall_silent()
        yield
        workload.injections.count("silent PostgreSQL", happened=workload.system.database.held > 0)
        workload.system.database.pass_again()
    note_return(workload, "silence")


def reset(workload: Workload) -> None:
    """Reset every connection between the product and PostgreSQL."""
    if not workload.has_traffic():
        return
    with workload.excusing(overlap=True, breaks_connections=True):
        count = workload.system.database.reset()
        workload.injections.count("reset of PostgreSQL's connections", happened=count > 0)
        workload.rest(1)
        workload.system.database.pass_again()
    note_return(workload, "reset")
