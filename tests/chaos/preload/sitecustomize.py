"""Loaded by Python before anything else in the product's processes: it turns their clock, or breaks the product.

`PYTHONPATH` leads here. `CHAOS_CLOCK` is how many seconds the clock is ahead; `CHAOS_MUTATION` names what is to be
broken (`tests.chaos.mutations`). What was done is reported as a file in `CHAOS_REPORTS`.
"""

import os
import sys
from pathlib import Path


def report(kind: str, name: str) -> None:
    """Leave a file that says what was done in this process."""
    Path(os.environ["CHAOS_REPORTS"], f"{kind}-{name}.{os.getpid()}").touch()


def turn_clock(seconds: float, name: str) -> None:
    import datetime

    import time_machine

    time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds), tick=True).start()
    report("clock", name)


if os.environ.get("CHAOS_CLOCK"):
    turn_clock(float(os.environ["CHAOS_CLOCK"]), os.environ["CHAOS_PROCESS"])
if os.environ.get("CHAOS_MUTATION"):
    # The product's folder, in which this process was started, is not on the path yet.
    sys.path.insert(0, os.getcwd())
    from tests.chaos.mutations.patching import install

    install(os.environ["CHAOS_MUTATION"], report)
