"""A whole system of its own: web, worker, dispatcher and beat, on servers and a folder that are thrown away."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.local import ROOT
from config.local.variables import development_variables

START_SECONDS = 120
OPTIONS = ("--port", "0", "--forgetful", "--revive", "--no-summary")


@dataclass
class LiveSystem:
    state: Path
    process: "subprocess.Popen[bytes]"

    def told(self, file: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.state / file).read_text())
        return found

    @property
    def url(self) -> str:
        return str(self.told("run.json")["env"]["PUBLIC_URL"])

    @property
    def key(self) -> str:
        return str(self.told("bootstrap.json")["agency_key"])

    def signal(self, child: str, number: signal.Signals) -> None:
        """Send a signal to one of the system's processes and to those that it has started."""
        os.killpg(self.told("run.json")["pids"][child], number)

    def wait_until_ready(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            if (self.state / "run.json").exists() and self.told("run.json")["ready"]:
                return
            time.sleep(0.1)
        pytest.fail("the system did not become ready")


@pytest.fixture(scope="module")
def live_system() -> Iterator[LiveSystem]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        own = {"DATABASE_URL", "REDIS_URL", *development_variables(Path(folder), port=0)}
        process = subprocess.Popen(
            [sys.executable, "-m", "config.local.run", "--state", str(state), *OPTIONS],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name not in own},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        system = LiveSystem(state, process)
        try:
            system.wait_until_ready()
            yield system
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
