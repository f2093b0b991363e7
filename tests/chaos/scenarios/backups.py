"""A system at work is backed up and restored on a server of its own, where every kind of process is then killed."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.chaos.outcome import Outcome
from tests.chaos.scenarios.processes import PROCESSES
from tests.chaos.scenarios.scenario import Scenario, Skipped
from tests.chaos.system.system import Servers, migrate
from tests.chaos.workload import Workload
from tools.local import ROOT
from tools.local.servers.postgres import PORT, Postgres
from tools.local.servers.starting import socket_folder

BACKUP_SECONDS = 90
LOADED = 4_000
BackUp = Callable[[Servers, str, Path], None]


def run(servers: Servers, program: str, *arguments: str, of: Postgres | None = None) -> None:
    """Run one of PostgreSQL's programs against a server. Raises `Skipped` where there is none."""
    found = servers.postgres.programs.folder / program
    if not found.exists():
        raise Skipped(f"there is no {program} in {found.parent}")
    reached = ["-h", str((of or servers.postgres).sockets), "-p", str(PORT), "-U", "app"]
    command = [*servers.postgres.account.prefix, str(found), *reached, *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=BACKUP_SECONDS, cwd="/")


def dump(servers: Servers, name: str, folder: Path) -> None:
    run(servers, "pg_dump", "--format=directory", "--jobs=2", f"--file={folder}/dump", name)


def copy(servers: Servers, name: str, folder: Path) -> None:
    run(servers, "pg_basebackup", "-D", f"{folder}/postgres", "--wal-method=stream", "--checkpoint=fast")


def confirm(url: str) -> None:
    """Say that the database was restored; a physical copy may have been overlooked."""
    command = [sys.executable, "manage.py", "after_restore", "--unnoticed"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"DATABASE_URL": url}, check=True, capture_output=True)


@contextmanager
def restored(servers: Servers, name: str, folder: Path) -> Iterator[Servers]:
    """The servers with another PostgreSQL, which has what was backed up, brought up as the operations guide says."""
    with socket_folder(folder, servers.postgres.account) as sockets:
        postgres = Postgres(folder, sockets, servers.postgres.account)
        postgres.start()
        try:
            if (folder / "dump").exists():
                run(servers, "createdb", name, of=postgres)
                arguments = ("--exit-on-error", "--jobs=2", f"--dbname={name}", f"{folder}/dump")
                run(servers, "pg_restore", *arguments, of=postgres)
            migrate(postgres.url(name))
            confirm(postgres.url(name))
            yield replace(servers, state=folder, postgres=postgres, template=name)
        finally:
            postgres.stop()


@dataclass(frozen=True)
class FromBackup:
    """`scenario` is played on what was restored; `loaded` is what goes on while the backup is made."""

    back_up: BackUp
    scenario: Scenario
    loaded: Scenario

    def play(self, servers: Servers, name: str, seed: int, variables: Mapping[str, str] | None = None) -> Outcome:
        """Play both, as `Scenario.play` does; a broken first half breaks the whole."""
        folder = servers.state / f"backup-{name}"
        folder.mkdir(mode=0o700)
        servers.postgres.account.own(folder)
        took = 0.0

        def work(workload: Workload) -> None:
            nonlocal took
            workload.injections.plan(["backup"])
            while workload.feeder and not workload.feeder.is_at_an_end:
                workload.rest(0.1)
            began = time.monotonic()
            self.back_up(servers, workload.system.name, folder)
            took = time.monotonic() - began
            workload.injections.count("backup", happened=workload.has_traffic())

        try:
            first = replace(self.loaded, script=work).play(servers, f"{name}-of", seed, variables)
            if first.skipped:
                return first
            began = time.monotonic()
            with restored(servers, f"{name}-of", folder) as copied:
                back = time.monotonic() - began
                outcome = self.scenario.play(copied, name, seed, variables)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        outcome.notes.append(f"backed up at work in {took:.1f} s, back after {back:.1f} s")
        if not first.holds:
            outcome.wrong.append(f"while it was backed up: {first}")
        return outcome


LOAD = Scenario(lambda _: None, 150, delay=0.1, rate=20, volume=400, most=LOADED)
BACKUPS = {"dump": FromBackup(dump, PROCESSES["kills"], LOAD), "copy": FromBackup(copy, PROCESSES["kills"], LOAD)}
