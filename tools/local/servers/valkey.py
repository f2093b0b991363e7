"""One Valkey below the state folder."""

import socket
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM
from urllib.parse import quote

from tools.local.servers.binaries import find_valkey
from tools.local.servers.server import Server


@dataclass
class Valkey(Server):
    """A Valkey that keeps its data in an append-only file if it is `durable`."""

    program: Path = field(default_factory=find_valkey)

    name = "valkey"
    title = "Valkey"
    variable = "REDIS_URL"
    stop_signal = SIGTERM

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    def url(self) -> str:
        return f"unix://{quote(str(self.socket), safe='/')}?db=0"

    def prepare(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.account.own(self.folder)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "databases": "64",
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
        }
        return [str(self.program), *(part for name, value in options.items() for part in (f"--{name}", value))]

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False
