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
from workspaces.automations.engine.internal_calls import make_left_calls


def be_careless() -> None:
    """Commit each statement of a batch by itself."""
    engine: Any = loop
    engine.transaction = SimpleNamespace(atomic=lambda **_: nullcontext())


def forget() -> None:
    """Count tries from the beginning: this many kills in a row would otherwise be given up."""
    BegunWork.objects.all().delete()


def run_with_calls() -> None:
    """Work until nothing is due, and make the calls that a killed process has left behind."""
    loop.run_due()
    while make_left_calls():
        loop.run_due()


def main(how: str) -> None:
    if how == "careless":
        be_careless()
    work: Any = run_with_calls if how == "calls" else loop.run_due
    for kills, moment in enumerate(moments()):
        ended_child(forget)
        if child(work, moment) != SIGKILL:
            sys.stdout.write(str(kills))
            return
