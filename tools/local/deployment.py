"""Checks the settings with the variables of a production machine: `python -m tools.local.deployment`."""

import os
import subprocess
import sys

from tools.local import ROOT
from tools.local.variables import new_secrets

PRODUCTION = {
    "DATABASE_URL": "postgresql://app@database.example.com/app",
    "REDIS_URL": "redis://redis.example.com/0",
    "PUBLIC_URL": "https://app.example.com",
    "EMAIL_HOST": "smtp.example.com",
    "MEDIA_DIRECTORY": "/var/lib/agency/media",
}


def main() -> int:
    """Give the status of `check --deploy`; a warning makes it fail."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, env=kept | PRODUCTION | new_secrets(), cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
