"""Processes that are stopped (SIGSTOP) at one place of their code, and go on when the test lets them."""

import os
import signal
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

from django.conf import settings

from channelconnect.sending.loop import run_sender
from config.http.client import HTTPClient
from config.http.transfer import Request
from tests.waiting import until
from webhooks.dispatcher.loop import run_dispatcher

LOOPS: dict[str, Callable[..., object]] = {"dispatcher": run_dispatcher, "sender": run_sender}


def main(name: str) -> None:
    """Work as a loop does, for `tests.processes.preloaded`, but stop at the first request.

    The process stops right after it has handed the request to libcurl: nothing of any is written yet.
    """
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    submit, stops = HTTPClient.submit, iter([True])

    def stop_once(self: HTTPClient, request: Request) -> None:
        submit(self, request)
        if next(stops, False):
            os.kill(os.getpid(), signal.SIGSTOP)

    HTTPClient.submit = stop_once  # type: ignore[method-assign]  # only in this process
    LOOPS[name](should_stop=lambda: False)


def wait_until_stopped(pid: int) -> None:
    def is_stopped() -> bool:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    until(is_stopped, what="a process that has stopped")


def go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
