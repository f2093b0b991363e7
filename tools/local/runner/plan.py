"""What belongs to the system: the preparation, the processes, and when it counts as ready."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.local.runner.supervisor import Child, python
from tools.local.runner.web import free_port
from tools.local.variables import public_url
from tools.sandbox.config import SandboxConfig, variables

# Root is what a container gives a newcomer; the warning about it fills a screen.
ROOT_WARNING = "ignore:You're running the worker with superuser privileges:UserWarning"
CELERY = ("-W", ROOT_WARNING, "-m", "celery", "--quiet", "-A", "config")
ALONE = ("--without-gossip", "--without-mingle")
# Each process has four threads, and each thread keeps a connection to PostgreSQL, which gives 200 in all.
WEB = ("--interface", "asgi", "--workers", "2", "--http", "1", "--no-ws", "--respawn-failed-workers")
# Who drips a request's head gets 10 s; thousands of idle connections are held, and each costs a few kilobytes.
WEB_LIMITS = ("--http1-header-read-timeout", "10000", "--backlog", "4096", "--backpressure", "4096")


@dataclass(frozen=True)
class Worker:
    """A Celery worker: the queues that it alone consumes, and how many of their tasks run at a time."""

    name: str
    queues: tuple[str, ...]
    processes: int

    def arguments(self) -> tuple[str, ...]:
        """Give the command line after `celery`, the same here and in `deploy/`.

        A worker that starts forgets the calls that piled up while it was away: they say nothing that the rows do not.
        """
        queues, host = ",".join(self.queues), f"{self.name}@%h"
        return ("worker", "-Q", queues, "-c", str(self.processes), "-n", host, "--purge")


# What waits for an SMTP server or goes through old rows has a worker of its own and delays nothing else. One process
# for each task of the first: at most one of a name is at work, so none of them waits for another.
WORKERS = (
    Worker(
        "worker",
        (
            "pulse",
            "due-work",
            "callbacks",
            "expiry",
            "subscriptions",
            "templates",
            "fetches",
            "imports",
            "jobs",
            "broadcasts",
            "domains",
            "notifications",
        ),
        15,
    ),
    Worker("mail", ("mail",), 1),
    Worker("housekeeping", ("housekeeping",), 1),
    Worker("dispatcher", ("dispatcher",), 1),
    Worker("sender", ("sender",), 1),
)


@dataclass(frozen=True)
class Plan:
    """`preparation` runs to its end first; `has_web` says whether readiness is asked over HTTP.

    `variables` are environment variables for all of its processes.
    """

    children: tuple[Child, ...]
    preparation: Child | None = None
    has_web: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)


def whole_system(state: Path, port: int) -> Plan:
    """Give the product's own plan: web, workers, dispatcher and beat, and the sandbox provider."""
    sandbox, variables = sandbox_provider(port)
    return Plan(
        variables=variables,
        preparation=Child("setup", python("-m", "tools.local.runner.prepare", str(state))),
        children=(
            Child("web", _web(port)),
            *(Child(worker.name, python(*CELERY, *worker.arguments(), *ALONE)) for worker in WORKERS),
            Child("beat", python(*CELERY, "beat", "--pidfile=")),
            *sandbox,
        ),
    )


def _web(port: int) -> tuple[str, ...]:
    address = ("--host", "127.0.0.1", "--port", str(port))
    return python("-m", "granian", *WEB, *WEB_LIMITS, *address, "config.asgi:application")


def sandbox_provider(port: int) -> tuple[tuple[Child, ...], dict[str, str]]:
    """Give the process that stands in for Meta and the variables that lead to it.

    Nothing when `META_APP_ID` names a real app.
    """
    if os.environ.get("META_APP_ID"):
        return (), {}
    product, own_port = public_url(port), free_port(0)
    command = python(
        *("-m", "tools.sandbox", "--port", str(own_port)),
        *("--redirect-uri", f"{product}/connect/callback"),
        *("--callback-url", f"{product}/connect/provider-events"),
    )
    return (Child("sandbox", command),), variables(f"http://127.0.0.1:{own_port}", SandboxConfig.read())
