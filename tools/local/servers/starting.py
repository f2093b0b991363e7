"""Starts the servers whose addresses are not in the environment, and stops them in order."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.local.errors import CannotStart
from tools.local.servers.account import Account, servers_account
from tools.local.servers.postgres import Postgres
from tools.local.servers.server import Server
from tools.local.servers.valkey import Valkey


@dataclass
class Servers:
    """The started servers by name. `given` has the addresses of the others, by their variables."""

    given: dict[str, str]
    started: dict[str, Server] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """Give `DATABASE_URL` and `REDIS_URL`."""
        return self.given | {server.variable: server.url() for server in self.started.values()}

    @property
    def processes(self) -> "dict[str, subprocess.Popen[bytes]]":
        return {name: server.process for name, server in self.started.items() if server.process}

    def ended(self) -> Server | None:
        """Give a server that ended by itself, if there is one."""
        return next((server for server in self.started.values() if not server.is_running), None)


@contextmanager
def started_servers(state: Path, *, durable: bool = True, account: Account | None = None) -> Iterator[Servers]:
    """Run PostgreSQL and Valkey on a state folder that the caller holds. Raises `CannotStart` if that fails.

    A server whose address is in the environment is not started. Call it from the main thread.
    """
    kinds = (Postgres, Valkey)
    servers = Servers({kind.variable: os.environ[kind.variable] for kind in kinds if os.environ.get(kind.variable)})
    missing = [kind for kind in kinds if kind.variable not in servers.given]
    if not missing:
        yield servers
        return
    account = account or servers_account()
    if account.owner is not None:
        state.chmod(0o711)  # the other account must pass through; each file is private by its own mode
    with ExitStack() as stack:
        sockets = stack.enter_context(socket_folder(state, account))
        for server in [kind(state, sockets, account, durable) for kind in missing]:
            server.launch()
            stack.callback(server.stop)
            servers.started[server.name] = server
        for started in servers.started.values():
            started.wait()
        yield servers


@contextmanager
def socket_folder(state: Path, account: Account) -> Iterator[Path]:
    """Make a private folder with a short name for the sockets, because a socket's path has at most 107 bytes."""
    mark = hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    folder = Path("/tmp", f"agency-{os.getuid()}-{mark}")  # noqa: S108  # nobody else's folder is ever taken
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise CannotStart(f"{folder} is not a folder of this user. Look what it is, then remove it.") from None
    try:
        account.own(folder)
        yield folder
    finally:
        shutil.rmtree(folder)
