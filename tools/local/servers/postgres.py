"""One PostgreSQL cluster below the state folder."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT
from urllib.parse import quote

from tools.local.errors import CannotStart
from tools.local.parent_death import parent_death_signal
from tools.local.servers.binaries import PostgresPrograms, find_postgres
from tools.local.servers.server import Server

PORT = 5432
SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "max_connections": "200",
    "max_locks_per_transaction": "256",
    "unix_socket_permissions": "0700",
    "logging_collector": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass
class Postgres(Server):
    """A PostgreSQL cluster and its server. SIGINT asks for a fast shutdown."""

    programs: PostgresPrograms = field(default_factory=find_postgres)

    name = "postgres"
    title = "PostgreSQL"
    variable = "DATABASE_URL"
    stop_signal = SIGINT

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return kept | {"TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def url(self, database: str = "app") -> str:
        return f"postgresql://app@/{database}?host={quote(str(self.sockets), safe='/')}&port={PORT}"

    def prepare(self) -> None:
        """Make the cluster if there is none. Raises `CannotStart` if another version made it."""
        if self.folder.exists():
            self._check_version()
        else:
            self._make()
        # No server runs here, so this file is a leftover. Another process may have its process id by now.
        (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def _check_version(self) -> None:
        mark = self.folder / "PG_VERSION"
        version = mark.read_text().strip() if mark.exists() else "(unknown)"
        if version != str(self.programs.major):
            raise CannotStart(
                f"The data in {self.folder} were made by PostgreSQL {version}, but {self.programs.postgres} "
                f"is version {self.programs.major}. Nothing was changed: put the old version back, or move the "
                "folder away to begin with empty data."
            )

    def _make(self) -> None:
        """Run initdb in another folder and move the result here, so that a half-made cluster is never used."""
        draft = self.state / "postgres.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.account.own(draft)
        self.account.check_access_to(draft)
        self.account.check_access_to(Path(self.programs.initdb))
        answer = subprocess.run(
            [*self.account.prefix, *parent_death_signal(), *self._initdb(draft)],
            capture_output=True,
            text=True,
            env=self.environment,
            start_new_session=True,
            check=False,
        )
        if answer.returncode:
            raise CannotStart(f"PostgreSQL's initdb failed: {answer.stderr.strip()}")
        draft.rename(self.folder)

    def _initdb(self, folder: Path) -> list[str]:
        options = ["-N", "-U", "app", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        if self.programs.major >= 17:
            options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        return [self.programs.initdb, "-D", str(folder), *options]

    def command(self) -> list[str]:
        settings = SETTINGS | {"unix_socket_directories": f'"{self.sockets}"'} | ({} if self.durable else NOT_DURABLE)
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        return [self.programs.postgres, "-D", str(self.folder), *options]

    def answers(self) -> bool:
        """Say whether the server is up; make its database if it is missing."""
        import psycopg  # imported while the server starts, because both take equally long

        try:
            connection = psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=5)
        except psycopg.OperationalError:
            return False
        with connection:
            if connection.execute("SELECT FROM pg_database WHERE datname = 'app'").fetchone() is None:
                connection.execute("CREATE DATABASE app")
        return True
