"""The short private folder in which the servers' sockets lie: a socket's path is limited to 107 bytes."""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.local.account import Account
from tools.local.errors import CannotStart

LONGEST_FOLDER = 107 - len("/.s.PGSQL.5432.lock")


def socket_folder(state: Path, account: Account) -> Path:
    """Give the state folder's own socket folder, empty; raise `CannotStart` when somebody else owns it."""
    mark = hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    folder = next(_parents()) / f"agency-{os.getuid()}-{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    _check(folder, account)
    for left_behind in folder.iterdir():
        left_behind.unlink()
    account.own(folder)
    return folder


def _parents() -> Iterator[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    for name in [runtime, tempfile.gettempdir(), "/tmp"]:  # noqa: S108  # the folder below it is private and checked
        fits = name and len(os.fsencode(name)) + len("/agency-1234567890-123456789012") <= LONGEST_FOLDER
        if name and fits and os.access(name, os.W_OK | os.X_OK):
            yield Path(name)


def _check(folder: Path, account: Account) -> None:
    found = folder.lstat()
    ours = found.st_uid in {os.getuid(), account.owner}
    if not stat.S_ISDIR(found.st_mode) or not ours or stat.S_IMODE(found.st_mode) & 0o077:
        raise CannotStart(f"{folder} is not a private folder of this user. Look what it is, then remove it.")


def remove_socket_folder(folder: Path) -> None:
    for left_behind in folder.iterdir():
        left_behind.unlink()
    folder.rmdir()
