"""Processes that are stopped (SIGSTOP) at one place of their code, and go on when the test lets them."""

import os
import signal
from pathlib import Path
from typing import Final

from tests.processes.own_processes import start, variables
from tests.processes.starting import Process
from tests.waiting import until

# The process stops right after it has handed its first request to libcurl: nothing of any is written yet.
PROGRAM: Final = """
import os, signal, django
django.setup()
from config.http.client import HTTPClient
submit, stops = HTTPClient.submit, iter([True])
def stop_once(self, request):
    submit(self, request)
    if next(stops, False):
        os.kill(os.getpid(), signal.SIGSTOP)
HTTPClient.submit = stop_once
from {module} import {run}
{run}(should_stop=lambda: False)
"""


def start_stopping(module: str, run: str, **environment: str) -> Process:
    """Start a worker that stops at its first request; `run` is the function of the module that works."""
    program = PROGRAM.format(module=module, run=run)
    return start(["-c", program], {**variables(), "DJANGO_SETTINGS_MODULE": "config.settings", **environment})


def wait_until_stopped(process: Process) -> None:
    def is_stopped() -> bool:
        return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    until(is_stopped, what="a process that has stopped")


def go_on(process: Process) -> None:
    os.kill(process.pid, signal.SIGCONT)
