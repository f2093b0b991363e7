"""Works on due automations, killed at each of its statements: for `tests.processes.preloaded`.

With `careless` a batch has no transaction of its own, which must not go unnoticed.
"""

import sys
from contextlib import nullcontext
from signal import SIGKILL
from types import SimpleNamespace
from typing import Any

from config.tries.models import BegunWork
from tests.processes.killed_at_statements import child, ended_child, moments
from workspaces.automations.engine import loop


def be_careless() -> None:
    """Commit each statement of a batch by itself."""
    engine: Any = loop
    engine.transaction = SimpleNamespace(atomic=lambda **_: nullcontext())


def forget() -> None:
    """Count tries from the beginning: this many kills in a row would otherwise be given up."""
    BegunWork.objects.all().delete()


def main(how: str) -> None:
    if how == "careless":
        be_careless()
    for kills, moment in enumerate(moments()):
        ended_child(forget)
        if child(loop.run_due, moment) != SIGKILL:  # type: ignore[arg-type]  # what it gives is not needed
            sys.stdout.write(str(kills))
            return
