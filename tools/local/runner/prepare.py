"""Brings the database up to date and keeps the secrets of the first bootstrap; runs as a separate process."""

import io
import json
import sys
from pathlib import Path
from typing import Any

from tools.local.errors import CannotStart
from tools.local.state import BOOTSTRAP, read_json, write_private


def main(state: Path) -> None:
    import django

    # The settings allow maintenance commands a minute for each statement, and recognise them by `sys.argv`.
    sys.argv = ["manage.py", "migrate"]
    django.setup()
    from config.operations.bootstrap_accounts import without_revoked_secrets

    migrate()
    forget_workers()
    found = bootstrap()
    if found["workspace"]:
        connect_demo_number(found["workspace"]["uuid"])
    known = with_known_secrets(found, read_json(state / BOOTSTRAP))
    write_private(state / BOOTSTRAP, json.dumps(without_revoked_secrets(known), indent=1))


def migrate() -> None:
    """Apply the unapplied migrations; quick and quiet if there are none. Raises `CannotStart`."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    # Before the first release migrations may be rewritten.
    if set(executor.loader.applied_migrations) - set(executor.loader.disk_migrations):
        raise CannotStart("An earlier version made this database by other migrations; move it away.")
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=1)


def forget_workers() -> None:
    """Forget the worker and the beat of an earlier run: readiness must wait for those of this run."""
    from config.health import BEAT_KEY, WORKER_KEY
    from config.redis import call_redis

    call_redis(lambda redis: redis.delete(WORKER_KEY, BEAT_KEY))


def bootstrap() -> dict[str, Any]:
    """Make the demo data if they are missing; give the command's answer about them."""
    from django.core.management import call_command

    answer = io.StringIO()
    call_command("bootstrap", "--json", stdout=answer)
    found: dict[str, Any] = json.loads(answer.getvalue())
    return found


def connect_demo_number(workspace: str) -> None:
    """Connect the demo workspace's number, so that it can send to the sandbox provider from the start."""
    from tools.local.runner.demo_number import connect_demo_number
    from workspaces.subaccounts.models import Workspace

    connect_demo_number(Workspace.objects.select_related("agency").get(uuid=workspace))


def with_known_secrets(found: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Fill in secrets that are shown only at creation, from an earlier answer about the same agency."""
    return _filled(found, before) if found.get("agency") == before.get("agency") else found


def _filled(found: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    filled = before | {name: value for name, value in found.items() if value is not None}
    for name, value in filled.items():
        earlier = before.get(name)
        if isinstance(value, dict) and isinstance(earlier, dict):
            filled[name] = _filled(value, earlier)
    return filled


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except CannotStart as error:
        sys.exit(f"{error} It lies in {sys.argv[1]}.")
