"""A disk that is full: PostgreSQL's data on a small file system in memory, and a file that fills it."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.chaos.faults.postgres import note_return, wait_until_up
from tests.chaos.system.system import Servers
from tests.chaos.workload import Workload

SPARE = 64 * 1024 * 1024
BLOCK = bytes(256 * 1024)


class CannotMount(Exception):
    """This machine lets nobody mount a file system; the text says what it answered."""


def small_disk(servers: Servers, stack: ExitStack) -> Path:
    """Move PostgreSQL's data to a small file system, until the stack ends. Raises `CannotMount`."""
    folder, disk = servers.postgres.folder, servers.state / "small-disk"
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) + SPARE
    disk.mkdir(mode=0o711)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        disk.rmdir()
        raise CannotMount(f"no small disk: {mounted.stderr.strip() or 'mount failed'}")
    stack.callback(_unmount, disk)
    stack.enter_context(_moved(servers, disk / "postgres"))
    return disk


@contextmanager
def _moved(servers: Servers, there: Path) -> Iterator[None]:
    folder = servers.postgres.folder
    kept = folder.with_name("postgres.kept")
    servers.postgres.stop()
    shutil.copytree(folder, there, symlinks=True)
    shutil.copystat(folder, there)
    servers.postgres.account.own(there)
    folder.rename(kept)
    folder.symlink_to(there)
    servers.postgres.start()
    try:
        yield
    finally:
        servers.postgres.stop()
        folder.unlink()
        kept.rename(folder)
        servers.postgres.start()


def _unmount(disk: Path) -> None:
    subprocess.run(["umount", "-l", str(disk)], check=False)
    disk.rmdir()


def fill(workload: Workload, disk: Path, seconds: float, look: Callable[[], None]) -> None:
    """Fill the disk for a while, and go on filling what becomes free; `look` is called when it is."""
    if not workload.has_traffic():
        return
    filler = disk / "filler"
    with workload.excusing(overlap=True):
        for _ in range(max(1, int(seconds / 0.5))):
            _write_until_full(filler)
            workload.rest(0.5)
        look()
        free = os.statvfs(disk)
        workload.injections.count("full disk", happened=free.f_bavail * free.f_frsize < len(BLOCK))
        filler.unlink()
        wait_until_up(workload)
    note_return(workload, "full disk")


def _write_until_full(filler: Path) -> None:
    for size in (len(BLOCK), 4096):
        try:
            with filler.open("ab", buffering=0) as file:
                while file.write(BLOCK[:size]):
                    pass
        except OSError:
            continue
