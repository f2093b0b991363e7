"""One PostgreSQL cluster below the state folder, reached by its socket alone."""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from tools.local.account import Account
from tools.local.binaries import PostgresPrograms
from tools.local.errors import CannotStart
from tools.local.leash import end_orphans_of, leash
from tools.local.state import open_log

PORT = 5432
PATIENCE_SECONDS = 60.0
SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "max_connections": "200",
    "unix_socket_permissions": "0700",
    "logging_collector": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass
class Postgres:
    """A cluster and the server on it. `durable=False` is for data that nobody will miss."""

    programs: PostgresPrograms
    folder: Path
    sockets: Path
    account: Account
    durable: bool = True
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return self.folder.with_name("postgres.log")

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return kept | {"TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def url(self, database: str = "app") -> str:
        return f"postgresql://app@/{database}?host={quote(str(self.sockets), safe='/')}&port={PORT}"

    def prepare(self) -> None:
        """Make the cluster when there is none; raise `CannotStart` when it is another version's."""
        if self.folder.exists():
            self._check_version()
        else:
            self._make()
        end_orphans_of(self.folder, with_signal=signal.SIGINT)
        # Without a server at work this file is left over; its process id may by now be somebody else's.
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
        """Run initdb beside the folder and move the result: a half-made cluster is never taken for one."""
        draft = self.folder.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.account.own(draft)
        self.account.must_reach(draft)
        self.account.must_reach(Path(self.programs.initdb))
        answer = subprocess.run(
            [
                *self.account.prefix,
                *leash("TERM"),
                self.programs.initdb,
                "-D",
                str(draft),
                *self._initdb_options(),
            ],
            capture_output=True,
            text=True,
            env=self.environment,
            start_new_session=True,
            check=False,
        )
        if answer.returncode:
            raise CannotStart(f"PostgreSQL's initdb failed: {answer.stderr.strip()}")
        draft.rename(self.folder)

    def _initdb_options(self) -> list[str]:
        options = ["-N", "-U", "app", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        if self.programs.major >= 17:
            options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        return options

    def launch(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting for it; SIGINT is its fast shutdown."""
        settings = SETTINGS | {"unix_socket_directories": f'"{self.sockets}"'} | ({} if self.durable else FORGETFUL)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with open_log(self.log) as log:
            self.process = subprocess.Popen(
                [
                    *self.account.prefix,
                    *leash("INT"),
                    self.programs.postgres,
                    "-D",
                    str(self.folder),
                    *options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        return self.process

    def wait(self) -> None:
        """Return once the server answers and has its database; raise `CannotStart` when it does not come."""
        import psycopg  # its import takes as long as the server's start: both at the same time

        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                connection = psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=5)
            except psycopg.OperationalError as error:
                self._still_coming(until, error)
                time.sleep(0.01)
            else:
                break
        with connection:
            if connection.execute("SELECT FROM pg_database WHERE datname = 'app'").fetchone() is None:
                connection.execute("CREATE DATABASE app")

    def _still_coming(self, until: float, reason: Exception) -> None:
        ended = self.process is None or self.process.poll() is not None
        if ended or time.monotonic() > until:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
            raise CannotStart(f"PostgreSQL did not start:\n{tail}") from reason
