"""Runs a whole system on one state folder until it is stopped or one of its processes ends."""

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tools.local.errors import CannotStart, ChildEnded
from tools.local.runner.plan import Plan, whole_system
from tools.local.runner.signals import StopSignals, stop_signals
from tools.local.runner.summary import summary
from tools.local.runner.supervisor import Supervisor
from tools.local.runner.web import free_port, is_ready
from tools.local.servers.starting import Servers, started_servers
from tools.local.state import BOOTSTRAP, RUN, held, read_json, write_private
from tools.local.variables import development_variables

READY_SECONDS = 90.0
Planner = Callable[[Path, int], Plan]


class System:
    """Starts the product's processes on running servers, and watches them all."""

    def __init__(self, state: Path, port: int, plan: Plan, servers: Servers, signals: StopSignals) -> None:
        self.state, self.port, self.plan, self.servers, self.signals = state, port, plan, servers, signals
        self.instance = secrets.token_hex(8)
        self.env = {
            **servers.env,
            **development_variables(state, port=port),
            **plan.variables,
            "INSTANCE_ID": self.instance,
        }

    def run(self, started: float) -> NoReturn:
        """Run until `KeyboardInterrupt`, `CannotStart` or `ChildEnded` ends it."""
        with self._supervised() as self.children:
            self._publish(ready=False)
            self._prepare()
            for child in self.plan.children:
                self.children.start(child)
            self._publish(ready=False)
            self._wait_until_ready()
            self._publish(ready=True)
            self._show_summary(time.monotonic() - started)
            while True:
                self._look_after(0.2)

    @contextmanager
    def _supervised(self) -> Iterator[Supervisor]:
        names = [child.name for child in (*self.plan.children, self.plan.preparation) if child]
        supervisor = Supervisor(names, self.env)
        try:
            yield supervisor
        finally:
            self.signals.ignore_further()
            (self.state / RUN).unlink(missing_ok=True)
            supervisor.stop(self.signals.was_repeated)

    def _publish(self, *, ready: bool) -> None:
        """Describe the running system for commands in other terminals and for tests."""
        processes = {**self.servers.processes, **self.children.processes}
        description = {
            "runner": os.getpid(),
            "env": self.env,
            "pids": {name: process.pid for name, process in processes.items()},
            "ready": ready,
        }
        write_private(self.state / RUN, json.dumps(description, indent=1))

    def _prepare(self) -> None:
        preparation = self.plan.preparation
        if preparation and self.children.run(preparation):
            raise CannotStart("The database could not be prepared; the lines above say why.")

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while self.plan.has_web and not is_ready(self.port, self.instance):
            self._look_after(0.05)
            if time.monotonic() > until:
                raise CannotStart(f"The system was not ready within {READY_SECONDS:.0f} seconds.")

    def _look_after(self, seconds: float) -> None:
        self.children.pass_on_output(seconds)
        server = self.servers.ended()
        if server:
            raise ChildEnded(f"{server.name} ended by itself; its log is {server.log}")
        self.check_children()

    def check_children(self) -> None:
        """Raise `ChildEnded` if a process of the product has ended."""
        self.children.check()

    def _show_summary(self, seconds: float) -> None:
        known = {
            **read_json(self.state / BOOTSTRAP),
            "sandbox": self.plan.variables.get("META_GRAPH_URL"),
            "smtp": os.environ.get("EMAIL_HOST"),
        }
        print(summary(self.env["PUBLIC_URL"], known, seconds), flush=True)


def run(state: Path, port: int, planner: Planner = whole_system, system: type[System] = System) -> int:
    """Run until the end; give the exit status, 0 when stopped and 1 otherwise. Main thread only.

    `port` 0 takes any free port.
    """
    started = time.monotonic()
    with stop_signals() as signals:
        try:
            with held(state) as folder:
                (folder / RUN).unlink(missing_ok=True)  # a killed runner may have left an outdated description
                port = free_port(port)
                with started_servers(folder) as servers:
                    system(folder, port, planner(folder, port), servers, signals).run(started)
        except KeyboardInterrupt:
            print("Stopped.", flush=True)
            return 0
        except (CannotStart, ChildEnded) as error:
            print(error, file=sys.stderr, flush=True)
            return 1
