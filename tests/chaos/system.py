"""The system: PostgreSQL and Valkey with durable data, which can be stopped and started, and the product's workers."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import whole_system
from tools.local.servers.server import Server
from tools.local.servers.starting import started_servers
from tools.local.state import open_log, throwaway
from tools.local.variables import development_variables

STATE = ROOT / ".local-chaos"
# Also when this process is killed meanwhile, nothing stays stopped, and so nothing stays.
FREEZE = 'trap "kill \\$!" TERM; kill -STOP "$1"; sleep "$2" & wait; kill -CONT "$1"'
Process = subprocess.Popen[bytes]


@dataclass
class System:
    """Everything that runs; signals go to these processes and their children alone."""

    state: Path
    postgres: Server
    valkey: Server
    log: Path
    workers: dict[str, Process] = field(default_factory=dict)

    def start_workers(self, *names: str) -> None:
        """Start workers, a `dispatcher` or a `beat` each, as the product's own plan starts them."""
        for name in names:
            self._start(name)

    def _start(self, name: str) -> None:
        kind = name.partition("-")[0]
        [command] = [child.command for child in whole_system(self.state, 0).children if child.name == kind]
        arguments = [
            part.replace(f"{kind}@", f"{name}@").replace("beat-schedule", f"{name}-schedule") for part in command
        ]
        with self.log.open("ab") as log:
            self.workers[name] = subprocess.Popen(
                [*parent_death_signal(), *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def look_after(self) -> None:
        """Start again what has died, as any service manager does."""
        for name, process in list(self.workers.items()):
            if process.poll() is not None:
                self._start(name)

    def child_of(self, name: str) -> int | None:
        """The pool's child of a worker, which does its work."""
        pid = self.workers[name].pid
        with suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return int(children[-1]) if children else None
        return None

    def kill(self, victim: str) -> bool:
        """kill -9 of the dispatcher's `child`, of its `parent`, or of `beat`; says whether there was one."""
        if victim != "child":
            self.workers["beat" if victim == "beat" else "dispatcher"].kill()
            return True
        child = self.child_of("dispatcher")
        if child is not None:
            os.kill(child, signal.SIGKILL)
        return child is not None

    @contextmanager
    def freeze(self, pid: int | None, seconds: int) -> Iterator[None]:
        """Stop a process for so long."""
        if pid is None:
            raise RuntimeError("There is nothing to stop.")
        freezer = subprocess.Popen([*parent_death_signal(), "sh", "-c", FREEZE, "sh", str(pid), str(seconds)])
        try:
            yield
        finally:
            freezer.terminate()
            freezer.wait()

    def stop_workers(self) -> list[str]:
        """End all workers in order; gives those that had to be killed after all."""
        killed = []
        for process in self.workers.values():
            process.terminate()
        for name, process in self.workers.items():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                killed.append(name)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.workers.clear()
        return killed


@contextmanager
def running_system() -> Iterator[System]:
    """Set everything up in a folder of its own and clear it away; call it from the main thread."""
    for name in ("DATABASE_URL", "REDIS_URL"):  # never somebody's own servers
        os.environ.pop(name, None)
    with throwaway(STATE) as state, started_servers(state) as servers:
        os.environ |= {**development_variables(state, port=0), **servers.env}
        _set_up()
        postgres, valkey = servers.started["postgres"], servers.started["valkey"]
        built = System(state, postgres, valkey, state.with_name(f"{state.name}.log"))
        open_log(built.log).close()
        try:
            yield built
        finally:
            built.stop_workers()


def _set_up() -> None:
    import django

    arguments, sys.argv = sys.argv, ["manage.py", "chaos"]  # maintenance commands have a minute for a statement
    django.setup()
    sys.argv = arguments
    from django.core.management import call_command

    for handler in logging.root.handlers:
        handler.setLevel(logging.CRITICAL)  # that things are away is the point
    call_command("migrate", verbosity=0)


def rest(built: System, seconds: float) -> None:
    """Let time pass, looking after the workers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        built.look_after()
        time.sleep(0.05)
