"""What belongs to the system: the preparation, the processes, and when it counts as ready."""

from dataclasses import dataclass
from pathlib import Path

from config.local.supervisor import Child, python

CELERY = ("-m", "celery", "-A", "config")
QUIET = ("--without-gossip", "--without-mingle")


@dataclass(frozen=True)
class Plan:
    """`preparation` runs to its end first; `has_web` says whether readiness is asked over HTTP."""

    children: tuple[Child, ...]
    preparation: Child | None = None
    has_web: bool = True


def whole_system(state: Path, port: int) -> Plan:
    """Give the product's own plan: web, worker, courier and beat."""
    return Plan(
        preparation=Child("setup", python("-m", "config.local.prepare", str(state))),
        children=(
            Child("web", _web(port)),
            Child("worker", python(*CELERY, "worker", "-Q", "celery", "-c", "1", "-n", "worker@%h", *QUIET)),
            Child(
                "courier", python(*CELERY, "worker", "-Q", "courier", "-c", "1", "-n", "courier@%h", *QUIET)
            ),
            Child("beat", python(*CELERY, "beat", "--schedule", str(state / "beat-schedule"), "--pidfile=")),
        ),
    )


def _web(port: int) -> tuple[str, ...]:
    address = ("--host", "127.0.0.1", "--port", str(port))
    return python(
        "-m",
        "granian",
        "--interface",
        "wsgi",
        *address,
        "--workers",
        "2",
        "--no-ws",
        "config.wsgi:application",
    )
