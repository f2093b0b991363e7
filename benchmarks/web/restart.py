"""Measures the share of calls that fail while the web server is replaced under load."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.web.client import calling, server
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import WEB, WEB_LIMITS

TITLE = (
    "Restart: calls of eight clients over kept connections while deploy/restart-web replaces the server three times."
)
RESTARTS = 3
CLIENTS = 8
MOST_PER_MILLE = 1.0
BEFORE_AND_AFTER_SECONDS = 3.0


def run(_: Bench) -> list[Figure]:
    _agency, (key,) = agency_with(25)
    started: list[int] = []
    try:
        with server() as port, calling(port, key, CLIENTS) as calls:
            old = _main_process(port)
            for _number in range(RESTARTS):
                time.sleep(BEFORE_AND_AFTER_SECONDS)
                old = _replaced(port, old)
                started.append(old)
            time.sleep(BEFORE_AND_AFTER_SECONDS)
    finally:
        for process in started[-1:]:
            _end(process)
    total = calls.outcomes.total()
    note = f"{calls.failed} of {total} calls, the slowest {max(calls.seconds):.1f} s"
    share = calls.failed * 1000 / total
    return [Figure(name="failed calls", measured=share, unit="‰", at_most=MOST_PER_MILLE, note=note)]


def _main_process(port: int) -> int:
    """Give the server's oldest process, which handles signals."""
    answer = subprocess.run(
        ["pgrep", "-o", "-f", f"granian.*--port {port} "], capture_output=True, text=True, check=True
    )
    return int(answer.stdout.split()[0])


def _replaced(port: int, old: int) -> int:
    command = (sys.executable, "-m", "granian", *WEB, *WEB_LIMITS, "--port", str(port), "config.asgi:application")
    script = [str(ROOT / "deploy" / "restart-web"), "--port", str(port), "--old", str(old), "--", *command]
    answer = subprocess.run(
        [*parent_death_signal(), sys.executable, *script],
        cwd=ROOT,
        env={**os.environ, "PROCESS_NAME": "web"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise Broken("The web server was not replaced.")
    return int(answer.stdout)


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
