"""Processes of the product that a test starts as the plan does, on the test's own database and broker."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from tests.processes.starting import Process, start_process, stop
from tests.processes.unmeasured import unmeasured
from tools.local.runner.plan import ALONE, CELERY, WORKERS


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
    return start_process([sys.executable, *arguments], environment)


@contextmanager
def running(*names: str, **environment: str) -> Iterator[None]:
    """Run workers of the plan, or beat, until the block ends."""
    processes = [start(celery_arguments(name), {**variables(), **environment}) for name in names]
    try:
        yield
    finally:
        for process in processes:
            stop(process)
