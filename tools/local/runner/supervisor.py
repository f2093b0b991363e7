"""Runs the processes of one system: starts them, prints their output, notices when one ends, and stops them."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from tools.local import ROOT
from tools.local.errors import ChildEnded
from tools.local.parent_death import parent_death_signal
from tools.local.runner.output import Lines, prefixes

STOP_SECONDS = 15.0


@dataclass(frozen=True)
class Child:
    """A name and the command that runs under it."""

    name: str
    command: tuple[str, ...]


def python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


class Supervisor:
    """Starts each child in its own session. Use it in the main thread only."""

    def __init__(self, names: Sequence[str], env: Mapping[str, str]) -> None:
        self.prefixes = prefixes(names)
        self.env = {**os.environ, "PYTHONUNBUFFERED": "1", **env}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.selector = selectors.DefaultSelector()

    def start(self, child: Child) -> None:
        process = subprocess.Popen(
            [*parent_death_signal(), *child.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.env,
            cwd=ROOT,
            start_new_session=True,
        )
        self.processes[child.name] = process
        pipe = cast(IO[bytes], process.stdout)
        self.selector.register(pipe, selectors.EVENT_READ, Lines(pipe, self.prefixes[child.name]))

    def pass_on_output(self, seconds: float) -> None:
        """Wait at most so many seconds for output of the children, and write it."""
        if not self.selector.get_map():
            time.sleep(seconds)
        for key, _ in self.selector.select(seconds):
            lines: Lines = key.data
            if not lines.pass_on():
                self.selector.unregister(key.fileobj)
                lines.pipe.close()

    def run(self, child: Child) -> int:
        """Run a child to its end and give its status."""
        self.start(child)
        while (status := self.processes[child.name].poll()) is None:
            self.pass_on_output(0.05)
        self.pass_on_output(0)
        del self.processes[child.name]
        return status

    def check(self) -> None:
        """Raise `ChildEnded` if a child has ended."""
        for name, process in self.processes.items():
            status = process.poll()
            if status is not None:
                raise ChildEnded(f"{name} ended by itself ({_reason(status)})")

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """Ask all children to end. After 15 seconds, or as soon as `hurry` gives true, kill the rest."""
        for process in self.processes.values():
            process.terminate()
        until = time.monotonic() + STOP_SECONDS
        while any(process.poll() is None for process in self.processes.values()):
            if time.monotonic() > until or hurry():
                break
            self.pass_on_output(0.05)
        for process in self.processes.values():
            kill_group(process)
        self.pass_on_output(0)
        self.selector.close()


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill the child's whole process group: the processes that it started must not outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
