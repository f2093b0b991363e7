"""Starts commands of the product as forks of one process that has loaded all of it, where a new Python loads it anew.

A fork is a process of its own: it can be killed, it writes to its own log, and it leads its own session. It ends with
the loaded process. `python -m tests.processes.forks` reads a command from each line of its input, and answers with the
id of the process that runs it.
"""

import ctypes
import importlib
import json
import os
import select
import signal
import site
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from runpy import run_module, run_path
from typing import IO

from config.garbage_collection import resume_collection
from tests.processes.preloaded import PARENT_DEATH_SIGNAL, load
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import ROOT_WARNING

LOAD_SECONDS = 600
# What the processes import beside the product.
PROGRAMS = (
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.apps.beat",
    "config.asgi",
    "granian.cli",
    "granian.server",
)
# Settings that depend on the command.
OF_THE_COMMAND = ("PROCESS_NAME", "STATEMENT_TIMEOUT_MS", "SESSION_OPTIONS")


class NotForked(Exception):
    """The loaded process gave no answer; what it wrote is in the log."""


class Fork(subprocess.Popen[bytes]):
    """A process that another one has forked. Its status is unknown: it is given as 0."""

    _child_created = False  # for `Popen`, which then leaves it alone

    def __init__(self, pid: int, command: Sequence[str]) -> None:
        self.pid, self.args, self.returncode = pid, command, None
        self._file = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return status

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._file, sig)

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._file], [], [], seconds)[0]:
            os.close(self._file)
            self.returncode = 0
        return self.returncode


class Forks:
    """Starts the loaded process when it is first needed; call it from the main thread."""

    def __init__(self, environment: Mapping[str, str], log: Path | None = None) -> None:
        self._environment, self._log = environment, log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str], own: Mapping[str, str] = {}) -> Fork:
        """Run a command that begins with Python; `own` are its environment variables beside those of all."""
        process = self._process = self._process or self._start()
        order = json.dumps({"command": list(command[1:]), "own": dict(own)})
        answer = _asked(process, order)
        return Fork(answer, command)

    def _start(self) -> "subprocess.Popen[bytes]":
        with open(self._log or os.devnull, "ab") as log:
            return subprocess.Popen(
                [*parent_death_signal(), sys.executable, "-W", ROOT_WARNING, "-m", "tests.processes.forks"],
                cwd=ROOT,
                env=dict(self._environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log if self._log else None,
                start_new_session=True,
            )

    def end(self) -> None:
        """End the loaded process, and with it what it has forked."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


def _asked(process: "subprocess.Popen[bytes]", order: str) -> int:
    asked, told = _pipes(process)
    asked.write(order.encode() + b"\n")
    asked.flush()
    if not select.select([told], [], [], LOAD_SECONDS)[0]:
        raise NotForked("it took too long")
    answer = told.readline()
    if not answer:
        raise NotForked("it has ended")
    return int(answer)


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin
    assert process.stdout
    return process.stdin, process.stdout


def serve() -> None:
    """Fork for each line until the input ends. An ended fork keeps its id until the next line."""
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        _forget_ended()
        loaded, pid = os.getpid(), os.fork()
        if pid == 0:
            _become(order["command"], order["own"], loaded)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _forget_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become(command: list[str], own: Mapping[str, str], loaded: int) -> None:
    """Become the process of a command, as a new Python would."""
    status = 1
    try:
        _leave(loaded)
        os.environ.update(own)
        sys.modules.pop("sitecustomize", None)
        site.execsitecustomize()
        _run(command)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else bool(ended.code)
    except BaseException:  # noqa: BLE001  # the outermost frame of this process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _leave(loaded: int) -> None:
    """Lead a session of one's own, which ends with the loaded process, without its pipes."""
    os.setsid()
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != loaded:  # it ended before the request
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)


def _run(command: list[str]) -> None:
    if command[0] == "-W":
        command = command[2:]  # the loaded process has been told already
    if command[0] == "-m":
        sys.argv = [command[1], *command[2:]]
        _settle()
        run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        _settle()
        run_path(command[0], run_name="__main__")


def _settle() -> None:
    """Give the settings the values that they have in a process with this command."""
    from django.conf import settings

    found = run_module("config.settings")
    resume_collection()  # the settings pause it, and the apps that resume it are ready already
    for name in OF_THE_COMMAND:
        setattr(settings, name, found[name])
    settings.DATABASES["default"]["OPTIONS"].update(found["DATABASES"]["default"]["OPTIONS"])


if __name__ == "__main__":
    load()
    for name in PROGRAMS:
        importlib.import_module(name)
    serve()
