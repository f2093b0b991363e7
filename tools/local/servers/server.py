"""The common base of PostgreSQL and Valkey: a data folder, a log, a process, and the lock that it holds."""

import os
import subprocess
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import ClassVar

from tools.local.errors import CannotStart
from tools.local.parent_death import parent_death_signal
from tools.local.servers.account import Account
from tools.local.state import open_log, take_lock

START_SECONDS = 60.0
STOP_SECONDS = 15.0
LOG_LINES = 8


@dataclass
class Server(ABC):
    """One server below the state folder, which is reached only by its Unix socket.

    `durable=False` is for data that may be lost.
    """

    state: Path
    sockets: Path
    account: Account
    durable: bool = True
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    name: ClassVar[str]
    title: ClassVar[str]
    variable: ClassVar[str]
    stop_signal: ClassVar[Signals]

    @property
    def folder(self) -> Path:
        return self.state / self.name

    @property
    def log(self) -> Path:
        return self.state / f"{self.name}.log"

    @property
    def environment(self) -> dict[str, str]:
        return dict(os.environ)

    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder if there is none. Raises `CannotStart`."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool: ...

    def launch(self) -> None:
        """Start the server without waiting for it. Raises `CannotStart`."""
        lock = self._lock()
        try:
            self.prepare()
            with open_log(self.log) as log:
                self.process = subprocess.Popen(
                    [*self.account.prefix, *parent_death_signal(self.stop_signal), *self.command()],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self.environment,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        finally:
            os.close(lock)

    def start(self) -> None:
        """Start the server and wait until it answers. Raises `CannotStart`."""
        self.launch()
        self.wait()

    def _lock(self) -> int:
        """Lock the data folder. The server inherits the lock, which is free once all of its processes have ended."""
        lock = os.open(self.folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not take_lock(lock, STOP_SECONDS):
            os.close(lock)
            raise CannotStart(f"An earlier {self.title} still works on {self.folder}. End it first.")
        return lock

    def wait(self) -> None:
        """Wait until the server answers. Raises `CannotStart` if it ends or does not answer in time."""
        until = time.monotonic() + START_SECONDS
        while not self.answers():
            if not self.is_running or time.monotonic() > until:
                tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-LOG_LINES:])
                raise CannotStart(f"{self.title} did not start:\n{tail}")
            time.sleep(0.01)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, chosen: Signals | None = None) -> None:
        """Ask the server to end, and kill it after 15 seconds."""
        if self.process is None:
            return
        self.process.send_signal(chosen or self.stop_signal)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
