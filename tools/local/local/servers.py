"""Starts the servers that nobody has given an address of, and stops them in order."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.local.account import Account, servers_account
from tools.local.binaries import find_postgres, find_valkey
from tools.local.postgres import Postgres
from tools.local.sockets import remove_socket_folder, socket_folder
from tools.local.valkey import Valkey

PATIENCE_SECONDS = 15.0


@dataclass
class Servers:
    """The addresses (`DATABASE_URL`, `REDIS_URL`) and the processes that were started for them."""

    env: dict[str, str] = field(default_factory=dict)
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def ended(self) -> str | None:
        """Give the name of a server that ended by itself."""
        return next((name for name, process in self.processes.items() if process.poll() is not None), None)


@contextmanager
def started_servers(state: Path, *, durable: bool = True, account: Account | None = None) -> Iterator[Servers]:
    """Run PostgreSQL and Valkey on a state folder that the caller holds; raise `CannotStart` when that fails.

    A server whose address is in the environment is not started. Call it from the main thread.
    """
    servers = Servers({name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)})
    if len(servers.env) == 2:
        yield servers
        return
    account = account or servers_account()
    if account.owner is not None:
        state.chmod(0o711)  # the other account passes through; every file in it is private by its own mode
    with ExitStack() as stack:
        sockets = socket_folder(state, account)
        stack.callback(remove_socket_folder, sockets)
        started: list[Postgres | Valkey] = []
        if "DATABASE_URL" not in servers.env:
            started.append(Postgres(find_postgres(), state / "postgres", sockets, account, durable))
        if "REDIS_URL" not in servers.env:
            started.append(Valkey(find_valkey(), state / "valkey", sockets, account, durable))
        for server in started:
            server.prepare()
        for server in started:
            _launch(server, servers, stack)
        for server in started:
            server.wait()
        yield servers


def _launch(server: Postgres | Valkey, servers: Servers, stack: ExitStack) -> None:
    is_postgres = isinstance(server, Postgres)
    process = server.launch()
    stack.callback(stop, process, signal.SIGINT if is_postgres else signal.SIGTERM)
    servers.env["DATABASE_URL" if is_postgres else "REDIS_URL"] = server.url()
    servers.processes["postgres" if is_postgres else "valkey"] = process


def stop(process: "subprocess.Popen[bytes]", chosen: signal.Signals) -> None:
    """Ask a server to end, and kill it after 15 seconds."""
    process.send_signal(chosen)
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
