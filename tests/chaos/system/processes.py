"""The product's processes, kept alive as a service manager keeps them."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.limits import as_a_whole
from tests.processes.forks import Forks
from tests.processes.starting import Process, start_process
from tools.local.runner.plan import Plan

STOP_SECONDS = 60.0
# It stands for a provider's network, which nothing here calls.
NOT_STARTED = ("sandbox",)


@dataclass
class Processes:
    """Those of one plan; signals go to them and to their children alone.

    `variables` are environment variables for all of them, `own` for those of one name. `smaller` ends the command of
    those that have fewer processes than in the plan. `DOUBLE` names end in `-2`. With `are_forked` each is a fork of
    one process that has loaded the product.
    """

    plan: Plan
    variables: Mapping[str, str]
    log: Path
    own: dict[str, Mapping[str, str]] = field(default_factory=dict)
    smaller: dict[str, tuple[str, ...]] = field(default_factory=dict)
    running: dict[str, Process] = field(default_factory=dict)
    restarts: int = 0
    are_forked: bool = False
    _forks: Forks | None = None

    @property
    def names(self) -> list[str]:
        """What the plan starts."""
        return [child.name for child in self.plan.children if child.name not in NOT_STARTED]

    def start(self, *names: str) -> None:
        """Start these; `dispatcher-2` is a second dispatcher."""
        for name in names:
            self._start(name)

    def _start(self, name: str) -> None:
        known = {child.name: child.command for child in self.plan.children}
        kind = name if name in known else name.rpartition("-")[0]
        command = [
            part.replace(f"{kind}@", f"{name}@").replace("beat-schedule", f"{name}-schedule") for part in known[kind]
        ]
        with as_a_whole():
            self.running[name] = self._started([*command, *self.smaller.get(kind, ())], name)

    def _started(self, command: list[str], name: str) -> Process:
        if not self.are_forked:
            return start_process(command, self.environment(name), log=self.log)
        self._forks = self._forks or Forks(self.environment(), self.log)
        return self._forks.start(command, self.own.get(name, {}))

    def environment(self, name: str = "") -> dict[str, str]:
        """The environment variables of a process of this name, or of a command beside them."""
        return {**os.environ, **self.plan.variables, **self.variables, **self.own.get(name, {})}

    def look_after(self) -> None:
        """Start again what has died. What a dead one left behind is killed, but for a dispatcher's child.

        That one has to find out by itself, and may meet the next dispatcher at work.
        """
        for name, process in list(self.running.items()):
            if process.poll() is not None:
                if not name.startswith("dispatcher"):
                    _kill_group(process)
                self.restarts += 1
                self._start(name)

    def children_of(self, name: str) -> list[int]:
        """The processes that do its work: a pool's, or a web server's."""
        return _children(self.running[name].pid) if name in self.running else []

    def is_running(self, name: str) -> bool:
        return self.running[name].poll() is None

    def kill(self, name: str, *, child: bool = False) -> bool:
        """kill -9 of a process or of its newest child; says whether it was there and is gone."""
        if child:
            found = self.children_of(name)
            return bool(found) and _kill(found[-1])
        process = self.running[name]
        if process.poll() is not None:
            return False
        process.kill()
        process.wait(10)
        return True

    def take_down(self, *names: str) -> None:
        """kill -9 of these with all that they have started; they do not come back by themselves."""
        for name in names:
            process = self.running.pop(name)
            _kill_group(process)
            process.wait()

    def stop(self) -> list[str]:
        """End all in order; gives those that had to be killed after all."""
        for process in self.running.values():
            process.terminate()
        until = time.monotonic() + STOP_SECONDS
        late = []
        for name, process in self.running.items():
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(name)
            _kill_group(process)
            process.wait()
        self.running.clear()
        if self._forks:
            self._forks.end()
        return late


def _children(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them, oldest first."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(number) for number in task.read_text().split()]
    return sorted(found)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return is_gone(pid)


def is_gone(pid: int, seconds: float = 30.0) -> bool:
    """Wait until a process is gone, or a zombie."""
    return _comes_to(pid, "ZX", seconds)


def is_stopped(pid: int, seconds: float = 30.0) -> bool:
    """Wait until a process is stopped by a signal."""
    return _comes_to(pid, "T", seconds)


def _comes_to(pid: int, states: str, seconds: float) -> bool:
    """Wait until a process is in one of these states (see proc(5)); X where there is none any more."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            state = "X"
        if state in states:
            return True
        time.sleep(0.01)
    return False


def _kill_group(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
