"""The plan of a system: its preparation, its processes, and whether readiness is checked over HTTP."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.local.runner.supervisor import Child, python
from tools.local.runner.web import free_port
from tools.local.variables import public_url
from tools.sandbox.config import SandboxConfig, variables

# In a container a newcomer is often root, and Celery's warning about that fills a screen.
ROOT_WARNING = "ignore:You're running the worker with superuser privileges:UserWarning"
CELERY = ("-W", ROOT_WARNING, "-m", "celery", "--quiet", "-A", "config")
ALONE = ("--without-gossip", "--without-mingle")
# Each process has four threads. Each thread keeps a connection to PostgreSQL, which allows 200 in all.
WEB = ("--interface", "asgi", "--workers", "2", "--http", "1", "--no-ws", "--respawn-failed-workers")
# A request's head must be complete within 10 s. Thousands of idle connections are kept; each costs a few kilobytes.
WEB_LIMITS = ("--http1-header-read-timeout", "10000", "--backlog", "4096", "--backpressure", "4096")


@dataclass(frozen=True)
class Worker:
    """A Celery worker: the queues that only it consumes, and how many of their tasks run at a time."""

    name: str
    queues: tuple[str, ...]
    processes: int

    def arguments(self) -> tuple[str, ...]:
        """Give the command line after `celery`, the same here and in `deploy/`.

        With `--purge` a starting worker drops the calls that piled up while it was away: the rows hold all the work.
        """
        queues, host = ",".join(self.queues), f"{self.name}@%h"
        return ("worker", "-Q", queues, "-c", str(self.processes), "-n", host, "--purge")


# Sending mail waits for SMTP servers, and housekeeping goes through old rows. Each has its own worker, so that it
# delays no other task. The first worker has one process for each of its tasks. At most one task of a name runs at a
# time, so no task waits for another.
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
            "calendars",
            "notifications",
            "automations",
            "payments",
            "pushes",
        ),
        19,
    ),
    Worker("mail", ("mail",), 1),
    Worker("housekeeping", ("housekeeping",), 1),
    Worker("dispatcher", ("dispatcher",), 1),
    Worker("sender", ("sender",), 1),
    Worker("calls", ("outside-calls",), 1),
)


@dataclass(frozen=True)
class Plan:
    """`preparation` runs to its end first. With `has_web` the system is ready once it says so over HTTP.

    `variables` are environment variables for all processes.
    """

    children: tuple[Child, ...]
    preparation: Child | None = None
    has_web: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)


def whole_system(state: Path, port: int) -> Plan:
    """Give the product's plan: web, workers (dispatcher and sender among them), beat and the sandbox provider."""
    sandbox, variables = sandbox_provider(port)
    stripe, stripe_variables = sandbox_stripe()
    return Plan(
        variables=variables | stripe_variables,
        preparation=Child("setup", python("-m", "tools.local.runner.prepare", str(state))),
        children=(
            Child("web", _web(port)),
            *(Child(worker.name, python(*CELERY, *worker.arguments(), *ALONE)) for worker in WORKERS),
            Child("beat", python(*CELERY, "beat", "--pidfile=")),
            *sandbox,
            *stripe,
        ),
    )


def _web(port: int) -> tuple[str, ...]:
    address = ("--host", "127.0.0.1", "--port", str(port))
    return python("-m", "granian", *WEB, *WEB_LIMITS, *address, "config.asgi:application")


def sandbox_provider(port: int) -> tuple[tuple[Child, ...], dict[str, str]]:
    """Give the sandbox's process and the variables that make the product use it.

    Both are empty if `META_APP_ID` is set in the environment: it names a real app.
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


def sandbox_stripe() -> tuple[tuple[Child, ...], dict[str, str]]:
    """Give the process that stands in for Stripe, and its address; both are empty if `STRIPE_API_URL` is set."""
    if os.environ.get("STRIPE_API_URL"):
        return (), {}
    port = free_port(0)
    command = python("-m", "tools.sandbox.stripe", "--port", str(port))
    return (Child("stripe", command),), {"STRIPE_API_URL": f"http://127.0.0.1:{port}"}
