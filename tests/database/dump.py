"""A dump of the migrated database, so that a system with servers of its own need not migrate once more."""

import hashlib
import subprocess
from functools import cache
from pathlib import Path

import django

from tools.local import ROOT
from tools.local.errors import CannotStart
from tools.local.parent_death import parent_death_signal
from tools.local.servers.account import servers_account
from tools.local.servers.binaries import find_postgres
from tools.local.servers.postgres import Postgres
from tools.local.servers.starting import socket_folder

# Names the dump for the processes that a test starts.
VARIABLE = "MIGRATED_DUMP"
SECONDS = 120


class StaleDump(Exception):
    """The dump was made by other migrations, or by another Django or PostgreSQL."""


@cache
def checksum(root: Path = ROOT) -> str:
    """Give what changes with every migration of the product, and with the versions of what applies them."""
    digest = hashlib.sha256(f"{django.__version__} {find_postgres().major}".encode())
    for path in sorted(root.glob("[!.]*/**/migrations/*.py")):
        digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def dump_path(folder: Path) -> Path:
    """Say where the dump of this checkout's migrations lies in a folder."""
    return folder / f"{checksum()}.dump"


def can_dump(major: int) -> bool:
    """Say whether a server of this version can be dumped here, and the dump be restored."""
    try:
        programs = find_postgres()
    except CannotStart:
        return False
    found = ((programs.folder / name).exists() for name in ("pg_dump", "pg_restore"))
    return programs.major == major and all(found)


def dump(url: str, folder: Path) -> None:
    """Write what a migrated database holds to a file, whose name says by which migrations it was made."""
    _run("pg_dump", "--format=custom", "--compress=0", f"--file={dump_path(folder)}", f"--dbname={url}")


def restore(path: Path, url: str) -> None:
    """Fill an empty database from a dump. Raises `StaleDump`."""
    if path != dump_path(path.parent):
        raise StaleDump(f"{path} does not fit the migrations of this checkout.")
    _run("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={url}", str(path))


def make_cluster(state: Path, path: Path) -> None:
    """Make the cluster that a system finds in its state folder, with the dump restored. Raises `StaleDump`."""
    state.mkdir(mode=0o700)
    account = servers_account()
    if account.owner is not None:
        state.chmod(0o711)
    with socket_folder(state, account) as sockets:
        postgres = Postgres(state, sockets, account, durable=False)
        postgres.start()
        try:
            restore(path, postgres.url())
        finally:
            postgres.stop()


def _run(program: str, *arguments: str) -> None:
    command = [*parent_death_signal(), str(find_postgres().folder / program), *arguments]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
