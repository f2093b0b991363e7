"""One Valkey below the state folder, reached by its socket alone."""

import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM
from urllib.parse import quote

from tools.local.account import Account
from tools.local.errors import CannotStart
from tools.local.leash import end_orphans_of, leash
from tools.local.state import open_log

PATIENCE_SECONDS = 60.0


@dataclass
class Valkey:
    """A Valkey that keeps its data in an append-only file, unless `durable` is off."""

    program: Path
    folder: Path
    sockets: Path
    account: Account
    durable: bool = True
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return self.folder.with_name("valkey.log")

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    def url(self) -> str:
        return f"unix://{quote(str(self.socket), safe='/')}?db=0"

    def prepare(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.account.own(self.folder)
        end_orphans_of(self.folder, with_signal=SIGTERM)

    def launch(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting for it."""
        with open_log(self.log) as log:
            self.process = subprocess.Popen(
                [*self.account.prefix, *leash("TERM"), str(self.program), *self._options()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self.process

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "databases": "64",
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "set-proc-title": "no",  # the folder stays readable in the list of processes
            "maxmemory-policy": "noeviction",
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    def wait(self) -> None:
        """Return once the server answers; raise `CannotStart` when it does not come."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._answers():
            ended = self.process is None or self.process.poll() is not None
            if ended or time.monotonic() > until:
                tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
                raise CannotStart(f"Valkey did not start:\n{tail}")
            time.sleep(0.01)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False
