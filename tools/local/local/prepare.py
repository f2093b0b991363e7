"""Brings the database up to date and keeps what the first bootstrap told; run as a process of its own."""

import io
import json
import sys
from pathlib import Path
from typing import Any

from tools.local.state import BOOTSTRAP, read_json, write_private


def main(state: Path) -> None:
    import django

    # The settings give maintenance commands a minute a statement, and know them by this name.
    sys.argv = ["manage.py", "migrate"]
    django.setup()
    migrate()
    forget_workers()
    told = bootstrap()
    if told:
        remembered = with_known_secrets(told, read_json(state / BOOTSTRAP))
        write_private(state / BOOTSTRAP, json.dumps(still_good(remembered), indent=1))


def migrate() -> None:
    """Apply what is unapplied; quick and quiet when nothing is."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=1)


def forget_workers() -> None:
    """Readiness asks for a worker seen lately; an earlier run's is no longer there."""
    from config.health import WORKER_KEY
    from config.redis import attempt

    attempt(lambda redis: redis.delete(WORKER_KEY))


def bootstrap() -> dict[str, Any]:
    """Make the demo data when they are missing; give what the command tells about them."""
    from django.core.management import call_command, get_commands

    if "bootstrap" not in get_commands():
        return {}
    answer = io.StringIO()
    call_command("bootstrap", "--json", stdout=answer)
    told: dict[str, Any] = json.loads(answer.getvalue())
    return told


def still_good(remembered: dict[str, Any]) -> dict[str, Any]:
    """Forget what was revoked or changed since the last start, so that nobody is shown a secret that opens nothing."""
    from config.operations.bootstrap.remembered import without_dead_secrets

    return without_dead_secrets(remembered)


def with_known_secrets(told: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Fill in the secrets that are told at creation only, from an earlier answer about the same agency."""
    if told.get("agency") != before.get("agency"):
        return told
    return _filled(told, before)


def _filled(told: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    filled = before | {name: value for name, value in told.items() if value is not None}
    for name, value in filled.items():
        earlier = before.get(name)
        if isinstance(value, dict) and isinstance(earlier, dict):
            filled[name] = _filled(value, earlier)
    return filled


if __name__ == "__main__":
    main(Path(sys.argv[1]))
