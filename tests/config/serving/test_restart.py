"""A server is replaced under load: `deploy/restart-web` as an operator runs it."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress

from tests.config.serving.conftest import PAGES
from tests.config.serving.web import Web, running_web
from tests.waiting import until
from tools.local import ROOT
from tools.local.runner.plan import WEB, WEB_LIMITS

CLIENTS = 4
PAUSE_SECONDS = 0.02


def keep_calling(web: Web, outcomes: Counter[str], stopped: threading.Event) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    while not stopped.wait(PAUSE_SECONDS):
        try:
            connection.request("GET", "/seen")
            outcome = str(connection.getresponse().read() and 200)
        except (OSError, http.client.HTTPException) as fault:
            outcome = type(fault).__name__
            connection.close()
        outcomes[outcome] += 1
    connection.close()


def restart(web: Web, application: str, *options: str) -> "subprocess.CompletedProcess[str]":
    address = ("--workers", "1", "--port", str(web.port))
    command = (sys.executable, "-m", "granian", *WEB, *WEB_LIMITS, *address, application)
    script = (str(ROOT / "deploy" / "restart-web"), "--port", str(web.port), "--old", str(web.process.pid), *options)
    return subprocess.run(
        [sys.executable, *script, "--", *command],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=120,
        check=False,
    )


def test_calls_go_on_while_a_server_is_replaced() -> None:
    outcomes: Counter[str] = Counter()
    stopped = threading.Event()
    with running_web(PAGES) as web:
        callers = [threading.Thread(target=keep_calling, args=(web, outcomes, stopped)) for _ in range(CLIENTS)]
        for caller in callers:
            caller.start()
        answer = restart(web, PAGES, "--leave-seconds", "0.5")
        assert web.process.wait(60) == 0
        before = outcomes["200"]
        until(lambda: outcomes["200"] >= before + CLIENTS, what="calls of the new server")
        stopped.set()
        for caller in callers:
            caller.join()
        assert answer.returncode == 0
        new = int(answer.stdout)
        try:
            assert web.get("/healthz").status == 200
            # A connection that the server closes just when a request comes over it: one at most for each client.
            assert outcomes.total() - outcomes["200"] <= CLIENTS
        finally:
            with suppress(ProcessLookupError):
                os.kill(new, signal.SIGTERM)


def test_a_new_server_that_does_not_start_leaves_the_old_one_alone(web: Web) -> None:
    assert restart(web, "tests.no_such:application", "--start-seconds", "30").returncode == 1
    assert web.get("/seen").status == 200
