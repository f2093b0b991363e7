"""Processes of the product that a test starts as the plan does, on the test's own database and broker."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from tests.processes.unmeasured import unmeasured
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import ALONE, CELERY, WORKERS

Process = subprocess.Popen[bytes]
END_SECONDS = 30


def variables() -> dict[str, str]:
    """Give the environment of such a process."""
    return {**unmeasured(os.environ), "DATABASE_URL": database_url(), "REDIS_URL": settings.REDIS_URL}


def database_url(**changes: str) -> str:
    """Give the address of the test's database; `changes` replace parts of it."""
    parts = {**connection.get_connection_params(), **changes}
    return make_conninfo(
        "", **{name: parts[name] for name in ("dbname", "user", "password", "host", "port") if name in parts}
    )


def celery_arguments(name: str, *, number: int = 0) -> tuple[str, ...]:
    """Give the arguments of a worker of the plan, or of beat, after `python`; `number` tells several apart."""
    if name == "beat":
        return (*CELERY, "beat", "--pidfile=")
    [worker] = [worker for worker in WORKERS if worker.name == name]
    return (*CELERY, *(part.replace("@%h", f"-{number}@%h") for part in worker.arguments()), *ALONE)


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Start Python with these arguments."""
    return subprocess.Popen(
        [*parent_death_signal(), sys.executable, *arguments], cwd=ROOT, env=dict(environment), start_new_session=True
    )


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Ask a process to end, and kill all that it started when it does not."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def running(*names: str, **environment: str) -> Iterator[None]:
    """Run workers of the plan, or beat, until the block ends."""
    processes = [start(celery_arguments(name), {**variables(), **environment}) for name in names]
    try:
        yield
    finally:
        for process in processes:
            stop(process)
