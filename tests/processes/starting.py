"""Starts the processes of tests, and keeps what they write: `tests/plugins/diagnosis.py` shows it when a test fails."""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.pytest_plugin import FOLDER

Process = subprocess.Popen[bytes]
END_SECONDS = 60
LINES_SHOWN, BYTES_SHOWN, NAME_SHOWN = 200, 16 * 1024, 160
_numbers = count(1)


@dataclass
class Log:
    """What a process writes; `begins_at` is how much of it is older than the test that runs now."""

    path: Path
    begins_at: int
    command: str
    process: Process

    @property
    def title(self) -> str:
        status = self.process.poll()
        state = "running" if status is None else f"ended with status {status}"
        return f"log of process {self.process.pid}, {state}: {self.command}"

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def newest(self) -> str:
        """Give the last lines that were written since the test began."""
        size = self.size
        begins_at = self.begins_at if self.begins_at <= size else 0  # it was begun anew
        if size == begins_at:
            return ""
        with self.path.open("rb") as file:
            file.seek(max(begins_at, size - BYTES_SHOWN))
            written = file.read(BYTES_SHOWN)
        return "\n".join(written.decode(errors="replace").splitlines()[-LINES_SHOWN:])


_logs: dict[Path, Log] = {}


def begin_test() -> None:
    """Forget what earlier tests had written."""
    for log in list(_logs.values()):
        if log.process.poll() is None:
            log.begins_at = log.size
        else:
            del _logs[log.path]


def logs() -> list[Log]:
    """Give the logs of all processes that have run in this test, oldest first."""
    return list(_logs.values())


def new_log() -> Path:
    """Give the path of a log of its own in the folder of this run."""
    folder = Path(os.environ[FOLDER], "processes")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{os.getpid()}-{next(_numbers)}.log"


def start_process(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    log: Path | None = None,
    stdout: int | None = None,
    cwd: Path = ROOT,
) -> Process:
    """Start a command in a session of its own, which ends with this process.

    What it writes is appended to `log`; `stdout` takes its output away from there. Call it from the main thread.
    """
    path = log or new_log()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "wb") as output:
        begins_at = _logs[path].begins_at if path in _logs else os.fstat(output.fileno()).st_size
        process = subprocess.Popen(
            [*parent_death_signal(), *command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output if stdout is None else stdout,
            stderr=output,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
    _logs[path] = Log(path, begins_at, " ".join(shlex.join(command).split())[:NAME_SHOWN], process)
    return process


def stop(process: Process, seconds: float = END_SECONDS) -> int:
    """Ask a process to end, and kill all that it started when it does not; gives its status."""
    process.terminate()
    try:
        return process.wait(seconds)
    finally:
        if process.poll() is None:
            kill(process)


def kill(process: Process) -> int:
    """Kill a process and all that it started; gives its status."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait(END_SECONDS)
