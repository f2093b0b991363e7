"""One scenario's system: a database of its own, the proxies in front of its servers, and the product's processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.chaos.system.processes import Processes
from tests.chaos.system.proxy import Proxy
from tests.database.dump import VARIABLE, restore
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal
from tools.local.runner.plan import whole_system
from tools.local.runner.web import free_port, get
from tools.local.servers.postgres import PORT, Postgres
from tools.local.servers.starting import started_servers
from tools.local.servers.valkey import Valkey
from tools.local.state import open_log, throwaway
from tools.local.variables import development_variables

STATE = ROOT / ".local-chaos"
TEMPLATE = "app"
START_SECONDS = 180.0
PLENTY = str(10**9)
# Also when this process is killed meanwhile, nothing stays stopped, and so nothing stays.
FREEZE = 'trap "kill \\$!" TERM; kill -STOP "$1"; sleep "$2" & wait; kill -CONT "$1"'


@dataclass
class Servers:
    """PostgreSQL with the migrated database that each scenario's is copied from, and Valkey."""

    state: Path
    postgres: Postgres
    valkey: Valkey
    log: Path
    template: str = TEMPLATE

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Execute a statement as an operator, outside of the scenario's database."""
        with psycopg.connect(self.postgres.url("postgres"), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@dataclass
class System:
    """What a scenario breaks. `database` and `redis` are the networks to them, which the product uses on demand."""

    servers: Servers
    name: str
    port: int
    database: Proxy
    redis: Proxy
    processes: Processes = field(init=False)
    reports: Path = field(init=False)

    def __post_init__(self) -> None:
        self.reports = self.servers.state / f"reports-{self.name}"
        self.reports.mkdir(mode=0o700)
        # The plan tells the sandbox where the product is: without it no callback ever comes.
        os.environ["PUBLIC_URL"] = self.url
        self.processes = Processes(whole_system(self.servers.state, self.port), {}, self.servers.log)

    def configure(self, variables: Mapping[str, str], *, through_proxies: bool = False) -> None:
        """Set the environment variables of all processes: what a scenario needs beside the usual."""
        self.processes.variables = {
            **(self._proxies if through_proxies else self._sockets),
            "AGENCY_KEY_LIMIT": PLENTY,
            "ADDRESS_LIMIT": PLENTY,
            "PUBLIC_URL": self.url,
            "CHAOS_REPORTS": str(self.reports),
            "INSTANCE_ID": self.name,
            **variables,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def _sockets(self) -> dict[str, str]:
        return {"DATABASE_URL": self.servers.postgres.url(self.name), "REDIS_URL": self.servers.valkey.url()}

    @property
    def _proxies(self) -> dict[str, str]:
        options = "sslmode=disable&gssencmode=disable"
        return {
            "DATABASE_URL": f"postgresql://app@127.0.0.1:{self.database.port}/{self.name}?{options}",
            "REDIS_URL": f"redis://127.0.0.1:{self.redis.port}/0",
        }

    def wait_for_web(self) -> None:
        """Return once the web process answers. Raises `RuntimeError` when it does not come."""
        until = time.monotonic() + START_SECONDS
        while self.name.encode() not in get(self.port, "/healthz")[1]:
            if time.monotonic() > until:
                raise RuntimeError(f"No web process answers; see {self.servers.log}")
            time.sleep(0.05)

    @contextmanager
    def frozen(self, *pids: int, seconds: float) -> Iterator[None]:
        """Stop processes with SIGSTOP for so long at most."""
        freezers = [
            subprocess.Popen([*parent_death_signal(), "sh", "-c", FREEZE, "sh", str(pid), str(seconds)]) for pid in pids
        ]
        try:
            yield
        finally:
            for freezer in freezers:
                freezer.terminate()
                freezer.wait()

    def backends(self) -> list[int]:
        """The product's connections in PostgreSQL, by the process ids of their backends."""
        found = self.servers.execute(
            "SELECT pid, datname FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND application_name <> 'chaos' ORDER BY pid"
        )
        return [int(str(pid)) for pid, database in found if database == self.name]


@contextmanager
def running_servers() -> Iterator[Servers]:
    """Set everything up in a folder of its own and clear it away; call it from the main thread."""
    for name in ("DATABASE_URL", "REDIS_URL"):  # never somebody's own servers
        os.environ.pop(name, None)
    with throwaway(STATE) as state, started_servers(state) as started:
        os.environ |= {**development_variables(state, port=0), **started.env}
        postgres, valkey = started.started["postgres"], started.started["valkey"]
        assert isinstance(postgres, Postgres)
        assert isinstance(valkey, Valkey)
        if VARIABLE in os.environ:
            restore(Path(os.environ[VARIABLE]), started.env["DATABASE_URL"])
        else:
            migrate(started.env["DATABASE_URL"])
        servers = Servers(state, postgres, valkey, state.with_name(f"{state.name}.log"))
        open_log(servers.log).close()
        yield servers


def migrate(url: str) -> None:
    """Migrate a database in a process of its own, so that nobody is connected to it when it is copied."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"DATABASE_URL": url}, check=True)


@contextmanager
def running_system(servers: Servers, name: str) -> Iterator[System]:
    """Make a scenario's system and connect Django to its database; the scenario starts the processes."""
    servers.execute(f'CREATE DATABASE "{name}" TEMPLATE "{servers.template}"')
    connect(servers, name)
    sockets = servers.postgres.sockets
    with ExitStack() as stack:
        database = stack.enter_context(Proxy(sockets / f".s.PGSQL.{PORT}"))
        redis = stack.enter_context(Proxy(servers.valkey.socket))
        system = System(servers, name, free_port(0), database, redis)
        system.configure({})
        stack.callback(_drop, servers, name)
        stack.callback(system.processes.stop)
        yield system


def connect(servers: Servers, name: str) -> None:
    """Point Django at the scenario's database, past the proxy: the instrument itself is to see everything."""
    import django

    os.environ["DATABASE_URL"] = servers.postgres.url(name)
    arguments, sys.argv = sys.argv, ["manage.py", "chaos"]  # maintenance commands have a minute for a statement
    django.setup()
    sys.argv = arguments
    from django.db import connection

    connection.close()
    connection.settings_dict |= {"NAME": name, "HOST": str(servers.postgres.sockets)}
    connection.settings_dict["OPTIONS"]["application_name"] = "chaos"


def _drop(servers: Servers, name: str) -> None:
    from django.db import connection

    connection.close()
    if servers.postgres.is_running:
        servers.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
