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
# Each thread keeps a connection to PostgreSQL, which gives 200 in all.
WEB = ("--interface", "wsgi", "--workers", "2", "--blocking-threads", "4", "--no-ws")


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
    """Give the product's own plan: web, worker, dispatcher and beat, and the sandbox provider."""
    sandbox, variables = sandbox_provider(port)
    return Plan(
        variables=variables,
        preparation=Child("setup", python("-m", "tools.local.runner.prepare", str(state))),
        children=(
            Child("web", _web(port)),
            Child("worker", python(*CELERY, "worker", "-Q", "celery", "-c", "1", "-n", "worker@%h", *ALONE)),
            # What called for it while it was away says nothing that its rows do not.
            Child(
                "dispatcher",
                python(*CELERY, "worker", "-Q", "dispatcher", "-c", "1", "-n", "dispatcher@%h", *ALONE, "--purge"),
            ),
            Child("beat", python(*CELERY, "beat", "--schedule", str(state / "beat-schedule"), "--pidfile=")),
            *sandbox,
        ),
    )


def _web(port: int) -> tuple[str, ...]:
    address = ("--host", "127.0.0.1", "--port", str(port))
    return python("-m", "granian", *WEB, *address, "config.wsgi:application")


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
