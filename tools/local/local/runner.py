"""Runs a whole system on one state folder until it is told to stop or one of its processes ends."""

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tools.local.errors import CannotStart, ChildEnded
from tools.local.plan import Plan, whole_system
from tools.local.ports import free_port
from tools.local.ready import is_ready
from tools.local.servers import Servers, started_servers
from tools.local.signals import StopSignals
from tools.local.state import BOOTSTRAP, RUN, held, read_json, write_private
from tools.local.summary import summary
from tools.local.supervisor import Supervisor
from tools.local.variables import development_variables

READY_SECONDS = 90.0
Planner = Callable[[Path, int], Plan]


@dataclass(frozen=True)
class Options:
    """`port=0` takes any free one; `durable=False` is for throw-away data; `revives` replaces the dead."""

    state: Path
    port: int = 8000
    durable: bool = True
    revives: bool = False
    shows_summary: bool = True


def run(options: Options, planner: Planner = whole_system) -> int:
    """Run until the end and give the exit status: 0 when told to stop, 1 otherwise. Main thread only."""
    started = time.monotonic()
    with StopSignals() as signals:
        try:
            with held(options.state) as state:
                (state / RUN).unlink(missing_ok=True)  # a killed runner's word is no longer true
                port = free_port(options.port)
                with started_servers(state, durable=options.durable) as servers:
                    System(options, state, port, planner(state, port), servers, signals, started).run()
        except KeyboardInterrupt:
            print("Stopped.", flush=True)
            return 0
        except (CannotStart, ChildEnded) as error:
            print(error, file=sys.stderr, flush=True)
            return 1


@dataclass
class System:
    """The servers are up; this adds the product's processes and keeps them together."""

    options: Options
    state: Path
    port: int
    plan: Plan
    servers: Servers
    signals: StopSignals
    started: float
    instance: str = field(default_factory=lambda: secrets.token_hex(8))

    def run(self) -> NoReturn:
        """Ends by `KeyboardInterrupt`, `CannotStart` or `ChildEnded`."""
        self.env = {
            **self.servers.env,
            **development_variables(self.state, port=self.port),
            **self.plan.variables,
            "INSTANCE_ID": self.instance,
        }
        with self._supervised() as self.children:
            self._publish(ready=False)
            self._prepare()
            for child in self.plan.children:
                self.children.start(child)
            self._publish(ready=False)
            self._wait_until_ready()
            self._publish(ready=True)
            if self.options.shows_summary:
                self._show_summary()
            while True:
                self._look_after(0.2)

    @contextmanager
    def _supervised(self) -> Iterator[Supervisor]:
        names = [child.name for child in self.plan.children]
        supervisor = Supervisor([*names, self.plan.preparation.name] if self.plan.preparation else names, self.env)
        try:
            yield supervisor
        finally:
            self.signals.disarm()
            (self.state / RUN).unlink(missing_ok=True)
            supervisor.stop(self.signals.asks_to_hurry)

    def _publish(self, *, ready: bool) -> None:
        """Leave word of the running system for commands in other terminals and for tests."""
        processes = {**self.servers.processes, **self.children.processes}
        told = {
            "runner": os.getpid(),
            "env": self.env,
            "pids": {name: process.pid for name, process in processes.items()},
            "ready": ready,
        }
        write_private(self.state / RUN, json.dumps(told, indent=1))

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
            raise ChildEnded(f"{server} ended by itself; its log is {self.state / server}.log")
        if self.options.revives:
            self._revive()
        self.children.check()

    def _revive(self) -> None:
        for child in self.plan.children:
            if self.children.has_ended(child.name):
                self.children.replace(child)
                self._publish(ready=True)

    def _show_summary(self) -> None:
        told = {**read_json(self.state / BOOTSTRAP), "sandbox": self.plan.variables.get("META_GRAPH_URL")}
        print(summary(self.env["PUBLIC_URL"], told, time.monotonic() - self.started), flush=True)
