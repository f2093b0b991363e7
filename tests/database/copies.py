"""Migrations run once for all workers: the first migrates its database, and the others begin with a copy of it."""

import os
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from psycopg import sql

from tests.database.dump import can_dump, dump, dump_path
from tests.processes.own_processes import database_url
from tools.local.pytest_plugin import FOLDER

RUN = "PYTEST_XDIST_TESTRUNUID"
LOCK = 20261122
EXISTS = "SELECT FROM pg_database WHERE datname = %s"


class SharedTemplate:
    """The copy of a migrated database that the workers of one run share; whoever made it drops it."""

    def __init__(self, run: str, folder: Path) -> None:
        self.name, self.folder = f"template_{run}", folder
        self._is_ours = False
        self._server = self._connect()

    def _connect(self) -> psycopg.Connection[Any]:
        known = connection.settings_dict
        names = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
        address = {name: known[key] for name, key in names.items() if known[key]}
        return psycopg.connect(**address, dbname="postgres", autocommit=True)

    def begin(self) -> None:
        """Have this worker's database made from the copy, or hold back the others until there is one."""
        self._server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        self._is_ours = self._server.execute(EXISTS, [self.name]).fetchone() is None
        if not self._is_ours:
            connection.settings_dict["TEST"]["TEMPLATE"] = self.name
            self._unlock()

    def offer(self) -> None:
        """Copy the database that this worker has migrated, if it is the first, and dump the copy."""
        if self._is_ours:
            connection.close()
            migrated = connection.settings_dict["NAME"]
            self._execute("CREATE DATABASE {} TEMPLATE {}", self.name, migrated)
            if can_dump(self._server.info.server_version // 10_000):
                dump(database_url(dbname=self.name), self.folder)
            self._unlock()

    @property
    def path_of_dump(self) -> Path | None:
        """The dump for servers of one's own, once this worker has its database; none where it cannot be made."""
        path = dump_path(self.folder)
        return path if path.exists() else None

    def end(self) -> None:
        """Drop the copy, if it is this worker's; one that comes later migrates by itself."""
        if self._is_ours:
            self._execute("DROP DATABASE {}", self.name)
        self._server.close()

    def _unlock(self) -> None:
        self._server.execute("SELECT pg_advisory_unlock(%s)", [LOCK])

    def _execute(self, statement: Any, *names: str) -> None:
        self._server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def template_of_this_run() -> SharedTemplate | None:
    """Give what the parallel workers share; a run without workers has nothing to share."""
    return SharedTemplate(os.environ[RUN], Path(os.environ[FOLDER])) if RUN in os.environ else None
