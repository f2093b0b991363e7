"""Under whose name the servers run: PostgreSQL refuses to run as root."""

import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from config.local.errors import CannotStart

NOBODY = 65534


@dataclass(frozen=True)
class Account:
    """The words before a server's command line, and who must own its files (None: whoever starts it)."""

    prefix: tuple[str, ...] = ()
    owner: int | None = None

    def own(self, folder: Path) -> None:
        """Give the folder, and what is in it, to the account."""
        if self.owner is None:
            return
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, self.owner, self.owner, follow_symlinks=False)

    def must_reach(self, path: Path) -> None:
        """Raise `CannotStart` when the account cannot get at a file or folder."""
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
# Inside a user namespace root is an ordinary user that still owns root's files: nothing needs another owner.
MAPPED = Account(prefix=("unshare", "--user", "--map-user=1000", "--map-group=1000", "--"))
DROPPED = Account(prefix=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"), owner=NOBODY)


@lru_cache(maxsize=1)
def servers_account() -> Account:
    """Choose how the servers run on this machine; raise `CannotStart` when only root is there."""
    if os.getuid() != 0:
        return ORDINARY
    for account in (MAPPED, DROPPED):
        if works(*account.prefix, "true"):
            return account
    raise CannotStart(
        "PostgreSQL does not run as root, and neither user namespaces (unshare) nor setpriv work here. "
        "Run as another user, or set DATABASE_URL and REDIS_URL."
    )
