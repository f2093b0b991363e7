"""Chooses the user account under which the servers run, because PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tools.local.errors import CannotStart


@dataclass(frozen=True)
class Account:
    """`prefix` goes before a server's command; `owner` must own its files (None: the user who starts it)."""

    prefix: tuple[str, ...] = ()
    owner: int | None = None

    def own(self, folder: Path) -> None:
        """Give the folder and its contents to the account."""
        if self.owner is None:
            return
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, self.owner, self.owner, follow_symlinks=False)

    def check_access_to(self, path: Path) -> None:
        """Raise `CannotStart` if the account cannot reach a file or folder."""
        if self.owner is not None and not works(*self.prefix, "test", "-x", str(path)):
            raise CannotStart(
                f"{path} lies below a folder that only root may enter, and PostgreSQL does not run as root. "
                "Move the checkout, run as another user, or set DATABASE_URL and REDIS_URL."
            )


def works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


ORDINARY = Account()


def nobody() -> int:
    return pwd.getpwnam("nobody").pw_uid


def mapped() -> Account:
    """Run as `nobody` in a user namespace. Our files belong to that user there, so no file needs another owner."""
    user = nobody()
    return Account(prefix=("unshare", "--user", f"--map-user={user}", f"--map-group={user}", "--"))


def dropped() -> Account:
    """Change from root to `nobody`, who must then own the files."""
    user = nobody()
    return Account(prefix=("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"), owner=user)


@lru_cache(maxsize=1)
def servers_account() -> Account:
    """Choose how the servers run on this machine. Raises `CannotStart` if no way works."""
    if os.getuid() != 0:
        return ORDINARY
    for account in (mapped(), dropped()):
        if works(*account.prefix, "true"):
            return account
    raise CannotStart(
        "PostgreSQL does not run as root, and neither user namespaces (unshare) nor setpriv work here. "
        "Run as another user, or set DATABASE_URL and REDIS_URL."
    )
